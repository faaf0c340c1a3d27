import type { CommandContext, StricliProcess } from '@stricli/core';
import { Printer, type Screen } from './output/printer.ts';

/** The context of a command that runs in this process, whose exit code it collects. */
export const cliContext = ({ stdin, stdout, stderr, env, cwd }: CliPlace): CliContext => ({
  process: { stdin, stdout, stderr, env, exitCode: null },
  env,
  folder: cwd(),
  printer: new Printer({ stdout, stderr, env }),
});

/** Streams, variables and working directory of a command. */
export interface CliPlace {
  stdin: { readonly isTTY?: boolean };
  stdout: Screen;
  stderr: Screen;
  env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
}

/** What every command gets from Stricli's `this`. */
export interface CliContext extends CommandContext {
  readonly process: StricliProcess & { readonly stdin: { readonly isTTY?: boolean } };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory. */
  readonly folder: string;
  readonly printer: Printer;
}
