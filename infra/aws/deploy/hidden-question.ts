import { createInterface } from 'node:readline/promises';
import { CommandError } from '../../command/command-error.ts';

/** Ask for a secret without showing it. If the input is not a terminal, read its next line. */
export const askHidden = (question: string): Promise<string> =>
  process.stdin.isTTY ? askTerminal(question) : lines();

const enter = /[\r\n]/;

const [interrupt, endOfInput] = ['\u0003', '\u0004'];

const erase = /[\b\u007f]/;

/** Ask on the terminal, and hide the answer. */
function askTerminal(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  stdin.resume();
  return new Promise((resolve, reject) => {
    let answer = '';
    const end = () => {
      stdin.off('data', hear);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
    };
    const hear = (typed: string) => {
      for (const sign of typed) {
        if (enter.test(sign)) {
          end();
          return resolve(answer);
        }
        if (sign === interrupt || sign === endOfInput) {
          end();
          return reject(new CommandError('Nothing was done.'));
        }
        answer = erase.test(sign) ? [...answer].slice(0, -1).join('') : answer + sign;
      }
    };
    stdin.on('data', hear);
  });
}

function createLines() {
  let iterator: AsyncIterator<string> | undefined;
  return async (): Promise<string> => {
    iterator ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const { value, done } = await iterator.next();
    if (done === true) throw new CommandError('The input ended before all questions were answered.');
    return value;
  };
}

/** Lines of an input that is not a terminal, one for each question. */
const lines = createLines();

/** Ask with a visible answer. */
export async function ask(question: string): Promise<string> {
  if (!process.stdin.isTTY) return lines();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}
