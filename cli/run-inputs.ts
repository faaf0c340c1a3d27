import { run } from '@stricli/core';
import { application } from './application.ts';
import { exitCodes } from './cli-error.ts';
import type { CliContext } from './context.ts';

/** `--sort -accuracy` as one word: a value that begins with a hyphen would be taken for flags. */
function joined(words: readonly string[]): string[] {
  const result: string[] = [];
  for (const word of words) {
    const isValue = result.at(-1) === '--sort' && /^-[A-Za-z_]/.test(word);
    if (isValue) result[result.length - 1] = `--sort=${word}`;
    else result.push(word);
  }
  return result;
}

/** Runs a command line and returns its exit code; errors are told, not thrown. */
export async function runInputs(inputs: readonly string[], context: CliContext): Promise<number> {
  const end = inputs.indexOf('--');
  const own = joined(end === -1 ? inputs : inputs.slice(0, end));
  const words = end === -1 ? own : [...own, ...inputs.slice(end)];
  context.process.exitCode = null;
  await run(application(own.includes('--verbose')), words, context);
  const exitCode = Number(context.process.exitCode ?? 0);
  // The library's own codes are negative: all of them say that the command line is wrong.
  return exitCode < 0 ? exitCodes.usage : exitCode;
}
