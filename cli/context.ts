import type { CommandContext, StricliProcess } from '@stricli/core';
import { Printer, type Screen } from './output/printer.ts';

/** Create the context of a command in this process. It collects the exit code. */
export const cliContext = ({ stdin, stdout, stderr, env, cwd }: CliPlace): CliContext => ({
  process: { stdin, stdout, stderr, env, exitCode: null },
  env,
  folder: cwd(),
  printer: new Printer({ stdout, stderr, env }),
});

/** Streams, environment variables and working directory of a command. */
export interface CliPlace {
  stdin: { readonly isTTY?: boolean };
  stdout: Screen;
  stderr: Screen;
  env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
}

/** Context that Stricli passes to every command as `this`. */
export interface CliContext extends CommandContext {
  readonly process: StricliProcess & { readonly stdin: { readonly isTTY?: boolean } };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Working directory. */
  readonly folder: string;
  readonly printer: Printer;
}
