import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';

/** Ask a question on the terminal. Hide the typed text of a secret. @throws CliError at Ctrl-C */
export async function ask(question: string, { isSecret = false } = {}): Promise<string> {
  let isMuted = false;
  const output = new Writable({
    write(chunk, _, done) {
      if (!isMuted) process.stderr.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const closed = new Promise<never>((_, reject) => {
    lines.once('SIGINT', () => reject(new CliError('Interrupted.', exitCodes.interrupted)));
    lines.once('close', () => reject(new CliError('Nothing was typed.', exitCodes.usage)));
  });
  try {
    const answer = lines.question(question);
    isMuted = isSecret;
    return await Promise.race([answer, closed]);
  } finally {
    lines.close();
    if (isSecret) process.stderr.write('\n');
  }
}

/** Read stdin without its last line ending. */
export const pipedText = async (): Promise<string> => (await text(process.stdin)).replace(/\r?\n$/, '');

/**
 * Read a password from the terminal without echo, or from the first line of stdin.
 *
 * @throws CliError if it is empty
 */
export async function askPassword(
  { process: { stdin } }: CliContext,
  question = 'Password: ',
): Promise<string> {
  const password = stdin.isTTY === true ? await ask(question, { isSecret: true }) : await pipedLine();
  if (password === '') throw new CliError('The password is blank.', exitCodes.usage);
  return password;
}

/** Read the first line of stdin. */
const pipedLine = async (): Promise<string> => (await text(process.stdin)).split(/\r?\n/)[0] ?? '';

/** Ask before an irreversible action. @throws CliError if the answer is no, or there is no terminal */
export async function agree(
  { process: { stdin } }: CliContext,
  question: string,
  otherwise: string,
): Promise<void> {
  if (stdin.isTTY !== true)
    throw new CliError('This cannot be undone. Confirm it with --yes.', exitCodes.usage);
  if (!/^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim())) throw new CliError(otherwise);
}
