import type { FlagParametersForType } from '@stricli/core';
import type { Parameter, Parameters } from '../../../shared/onnx/strategies/parameter.ts';
import type { CliContext } from '../../context.ts';
import { choice } from '../flags.ts';

type Camel<S extends string> = S extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : S;

/** Flags for the parameters of an operation. The service parses and checks the values. */
export type RegistryFlags<P extends Parameters> = {
  [N in keyof P & string as Camel<N>]?: P[N]['kind'] extends 'boolean' ? boolean : string;
};

const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function flagOf({ kind, description, usage, values }: Parameter) {
  const brief = `${description} ${usage}`;
  if (kind === 'boolean') return choice(description);
  const proposeCompletions = () => values ?? [];
  return { kind: 'parsed', parse: String, proposeCompletions, placeholder: 'VALUE', brief, optional: true };
}

/** Build the flags of an operation from the registry of its strategies, the only list of parameters. */
export function registryFlags<const P extends Parameters>(
  parameters: P,
): FlagParametersForType<RegistryFlags<P>, CliContext>;
export function registryFlags(parameters: Parameters): Readonly<Record<string, object>> {
  return Object.fromEntries(Object.entries(parameters).map(([name, one]) => [camel(name), flagOf(one)]));
}

/** Return the values of the flags by parameter name. */
export const registryValues = (
  parameters: Parameters,
  flags: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(Object.keys(parameters).map((name) => [name, flags[camel(name)]]));
