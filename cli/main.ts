import { proposeCompletions } from '@stricli/core';
import { printableText } from '../shared/core/text/printable-text.ts';
import { application, runInputs } from './application.ts';
import { exitCodes } from './cli-error.ts';
import { completeWord } from './commands/completion.ts';
import { type CliContext, cliContext } from './context.ts';
import { checkoutAbove } from './login/checkout.ts';
import { tellNewerVersion } from './login/newer-version.ts';
import { offerToStart } from './login/offer-to-start.ts';

/** Run the command line of this process. */
export async function main(): Promise<void> {
  // The reader closed the pipe, as `head` does. Exit without a message.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', ({ code }: NodeJS.ErrnoException) => {
      process.exit(code === 'EPIPE' ? 0 : exitCodes.failure);
    });

  // Exit on these signals as on Ctrl-C, so the exit handlers remove scratch files. A command with its own listener ends itself.
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    process.once(signal, () => {
      if (process.listenerCount(signal) === 0) process.exit(code);
    });

  // A command with its own SIGINT listener prints its own message.
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') > 1) return;
    process.stderr.write('Interrupted. The last request may still have taken effect.\n');
    process.exit(exitCodes.interrupted);
  });

  // An installed `mps` also uses the checkout that it is called in.
  const checkout = checkoutAbove(process.cwd());
  if (checkout !== undefined) process.env['MPS_CHECKOUT'] ??= checkout;

  const inputs = process.argv.slice(2);
  const context = cliContext(process);
  if (inputs[0] === completeWord) await complete(inputs.slice(1), context);
  else {
    process.exitCode = await command(inputs, context);
    await tellNewerVersion(context);
    // After Ctrl-C, do not wait for pending work.
    if (process.exitCode === exitCodes.interrupted) process.exit();
  }
}

/** Print completions for the last word: flags if it begins with a hyphen, else commands and values. */
async function complete(words: readonly string[], context: CliContext): Promise<void> {
  const isFlag = words.at(-1)?.startsWith('-') ?? false;
  const completed = await application(false, words.length > 1 ? words[0] : '');
  for (const { kind, completion, brief } of await proposeCompletions(completed, words, context)) {
    if (completion.startsWith('-') !== isFlag) continue;
    // All values of an argument share one description, so it does not help.
    const text = kind === 'argument:value' ? completion : `${completion}\t${brief.split('\n')[0]}`;
    process.stdout.write(`${printableText(text)}\n`);
  }
}

/** Run the command. If the user agrees to start the service first, run it again. */
async function command(inputs: readonly string[], context: CliContext): Promise<number> {
  const first = await runInputs(inputs, context);
  const isStarted = first === exitCodes.unreachable && (await offerToStart(context));
  return isStarted ? runInputs(inputs, context) : first;
}
