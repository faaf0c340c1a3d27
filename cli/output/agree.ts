import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { ask } from '../login/ask.ts';

/** Asks before something that cannot be undone. @throws CliError where nobody agrees, or nobody can be asked */
export async function agree(
  { process: { stdin } }: CliContext,
  question: string,
  otherwise: string,
): Promise<void> {
  if (stdin.isTTY !== true) throw new CliError('This cannot be undone. Say --yes.', exitCodes.usage);
  if (!/^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim())) throw new CliError(otherwise);
}
