import { proposeCompletions, run } from '@stricli/core';
import { printableText } from '../shared/core/printable-text.ts';
import { application } from './application.ts';
import { exitCodes } from './cli-error.ts';
import { completeWord } from './completion/shell-scripts.ts';
import { cliContext } from './context.ts';
import { tellNewerVersion } from './login/newer-version.ts';
import { offerToStart } from './login/offer-to-start.ts';

// Who reads has gone, as `head` does: nobody is there to be told.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    process.exit(code === 'EPIPE' ? 0 : exitCodes.failure);
  });

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

const inputs = process.argv.slice(2);
const context = cliContext(process);

/** Answers a shell what could stand at the end of its line: flags where one was begun. */
async function complete(words: readonly string[]): Promise<void> {
  const isFlag = words.at(-1)?.startsWith('-') ?? false;
  for (const { kind, completion, brief } of await proposeCompletions(application(false), words, context)) {
    if (completion.startsWith('-') !== isFlag) continue;
    // All values of an argument have the same description, which says nothing about each.
    const text = kind === 'argument:value' ? completion : `${completion}\t${brief.split('\n')[0]}`;
    process.stdout.write(`${printableText(text)}\n`);
  }
}

/** Runs a command and returns the exit code. */
async function command(): Promise<number> {
  const end = inputs.indexOf('--');
  const own = joined(end === -1 ? inputs : inputs.slice(0, end));
  const words = end === -1 ? own : [...own, ...inputs.slice(end)];
  const attempt = async () => {
    context.process.exitCode = null;
    await run(application(own.includes('--verbose')), words, context);
    return Number(context.process.exitCode ?? 0);
  };
  const first = await attempt();
  const isAway = first === exitCodes.unreachable;
  const exitCode = isAway && (await offerToStart(context)) ? await attempt() : first;
  // The library's own codes are negative: all of them say that the command line is wrong.
  return exitCode < 0 ? exitCodes.usage : exitCode;
}

if (inputs[0] === completeWord) await complete(inputs.slice(1));
else {
  process.exitCode = await command();
  await tellNewerVersion(context);
  // What was begun before Ctrl-C is not waited for.
  if (process.exitCode === exitCodes.interrupted) process.exit();
}
