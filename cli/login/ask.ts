import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliError, exitCodes } from '../cli-error.ts';

/** Ask a question on the terminal. A secret is not shown while it is typed. @throws CliError at Ctrl-C */
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

/** What is piped in, without the line end at its end. */
export const pipedText = async (): Promise<string> => (await text(process.stdin)).replace(/\r?\n$/, '');

/** The first line of what is piped in. */
export const pipedLine = async (): Promise<string> => (await text(process.stdin)).split(/\r?\n/)[0] ?? '';
