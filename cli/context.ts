import type { CommandContext, StricliProcess } from '@stricli/core';
import { Printer } from './output/printer.ts';

/** What every command has. */
export interface CliContext extends CommandContext {
  readonly process: StricliProcess & { readonly stdin: NodeJS.ReadStream };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the person stands. */
  readonly folder: string;
  readonly printer: Printer;
}

/** The context of a command that runs in this process, whose exit code it collects. */
export const cliContext = ({ stdin, stdout, stderr, env, cwd }: NodeJS.Process): CliContext => ({
  process: { stdin, stdout, stderr, env, exitCode: null },
  env,
  folder: cwd(),
  printer: new Printer(env),
});
