import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { ask, pipedLine } from './ask.ts';

/** A password, typed unseen or the first line of what is piped in. @throws CliError where it is blank */
export async function askPassword(
  { process: { stdin } }: CliContext,
  question = 'Password: ',
): Promise<string> {
  const password = stdin.isTTY === true ? await ask(question, { isSecret: true }) : await pipedLine();
  if (password === '') throw new CliError('The password is blank.', exitCodes.usage);
  return password;
}
