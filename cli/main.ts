import { proposeCompletions } from '@stricli/core';
import { printableText } from '../shared/core/text/printable-text.ts';
import { application, runInputs } from './application.ts';
import { exitCodes } from './cli-error.ts';
import { completeWord } from './commands/completion.ts';
import { cliContext } from './context.ts';
import { checkoutAbove } from './login/checkout.ts';
import { tellNewerVersion } from './login/newer-version.ts';
import { offerToStart } from './login/offer-to-start.ts';

// Who reads has gone, as `head` does: nobody is there to be told.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    process.exit(code === 'EPIPE' ? 0 : exitCodes.failure);
  });

// As Ctrl-C does, these leave no scratch files.
for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)
  process.once(signal, () => process.exit(code));

// A command that knows what Ctrl-C leaves behind listens itself, and says so.
process.on('SIGINT', () => {
  if (process.listenerCount('SIGINT') > 1) return;
  process.stderr.write('Interrupted. The last request may still have taken effect.\n');
  process.exit(exitCodes.interrupted);
});

// What was installed is at home in a checkout, too.
const checkout = checkoutAbove(process.cwd());
if (checkout !== undefined) process.env['MPS_CHECKOUT'] ??= checkout;

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

/** Runs the command, again where the service had to be started for it. */
async function command(): Promise<number> {
  const first = await runInputs(inputs, context);
  const isStarted = first === exitCodes.unreachable && (await offerToStart(context));
  return isStarted ? runInputs(inputs, context) : first;
}

if (inputs[0] === completeWord) await complete(inputs.slice(1));
else {
  process.exitCode = await command();
  await tellNewerVersion(context);
  // What was begun before Ctrl-C is not waited for.
  if (process.exitCode === exitCodes.interrupted) process.exit();
}
