import { type Aliases, buildCommand, type Command, type TypedCommandParameters } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { verbose } from './flags.ts';

interface CommandDefinition<F extends Flags, A extends readonly Argument[]> {
  brief: string;
  /** What `--help` says, with examples. */
  help: string;
  /** Words after the command, in their order. */
  args?: A;
  flags?: F;
  /** Short flags; by default `-p` is `--project`. */
  aliases?: Aliases<keyof F & string>;
  run(this: CliContext, flags: FlagsOf<F>, ...args: ArgsOf<A>): void | Promise<void>;
}

/**
 * Build a command. It takes `--verbose` besides its own flags. The definitions of flags and arguments tell the types
 * that `run` gets.
 *
 * @example command({ brief: 'List the users', help: 'Example:\n  mps users ls', flags: { json }, async run({ json }) {} })
 */
export function command<const F extends Flags = Empty, const A extends readonly Argument[] = []>({
  brief,
  help,
  args,
  flags,
  aliases = flags !== undefined && 'project' in flags ? { p: 'project' } : {},
  run,
}: CommandDefinition<F, A>): Command<CliContext> {
  const [list] = args ?? [];
  const positional =
    list !== undefined && 'several' in list
      ? { kind: 'array', parameter: list, minimum: list.several }
      : { kind: 'tuple', parameters: args ?? [] };
  const parameters = { positional, flags: { ...flags, verbose }, aliases };
  return buildCommand<FlagsOf<F>, ArgsOf<A>, CliContext>({
    func: run,
    // The compiler cannot derive this from types that it does not know yet.
    parameters: parameters as unknown as TypedCommandParameters<FlagsOf<F>, ArgsOf<A>, CliContext>,
    docs: { brief, fullDescription: help },
  });
}

type Empty = Record<never, never>;

type Parse = (this: CliContext, text: string) => unknown;

interface Completed {
  readonly proposeCompletions?: (
    this: CliContext,
    partial: string,
  ) => readonly string[] | Promise<readonly string[]>;
}

type Argument = Completed & {
  readonly brief: string;
  readonly placeholder: string;
  readonly parse: Parse;
  readonly optional?: boolean;
  /** The argument may be repeated, at least so many times. It is the only one then. */
  readonly several?: number;
};

type Flag = Completed & {
  readonly brief: string;
  readonly placeholder?: string;
  readonly hidden?: boolean;
} & (
    | { readonly kind: 'boolean'; readonly optional?: boolean; readonly withNegated?: boolean }
    | {
        readonly kind: 'enum';
        readonly values: readonly string[];
        readonly default?: string;
        readonly optional?: boolean;
      }
    | {
        readonly kind: 'parsed';
        readonly parse: Parse;
        readonly optional?: boolean;
        /** `true`, or what separates several values in one word. */
        readonly variadic?: boolean | string;
        readonly inferEmpty?: boolean;
      }
  );

type Flags = Readonly<Record<string, Flag>>;

type Parsed<P> = P extends (...args: never) => infer T ? Awaited<T> : never;

type ValueOf<D> = D extends { kind: 'boolean' }
  ? boolean
  : D extends { values: readonly (infer V)[] }
    ? V
    : D extends { variadic: true | string; parse: infer P }
      ? readonly Parsed<P>[]
      : D extends { parse: infer P }
        ? Parsed<P>
        : never;

/** Values of flags, by their definitions. */
type FlagsOf<F> = { [K in keyof F as F[K] extends { optional: true } ? K : never]?: ValueOf<F[K]> } & {
  [K in keyof F as F[K] extends { optional: true } ? never : K]: ValueOf<F[K]>;
} & { verbose?: boolean };

type ArgsOf<A extends readonly Argument[]> = A extends readonly [{ several: number; parse: infer P }]
  ? Parsed<P>[]
  : { -readonly [K in keyof A]: ArgOf<A[K]> };

type ArgOf<D> = D extends { parse: infer P }
  ? Parsed<P> | (D extends { optional: true } ? undefined : never)
  : never;
