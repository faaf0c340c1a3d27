import { CliError, exitCodes } from '../cli-error.ts';

/**
 * Run the steps up to the submission. Ctrl-C ends them at once. During the submission, Ctrl-C waits for the
 * answer, and a second Ctrl-C ends the command.
 */
export async function untilSubmitted<T>(work: Work<T>, interruptions: Interruptions<T>): Promise<T> {
  const interrupted = new AbortController();
  const ended = (text: string) => new CliError(text, exitCodes.interrupted);
  let isSubmitting = false;
  let press = () => {};
  const pressed = new Promise<never>((_, reject) => {
    press = () => {
      const isSecond = interrupted.signal.aborted;
      interrupted.abort();
      if (!isSubmitting) reject(ended(interruptions.before));
      else if (isSecond) reject(ended(interruptions.unknown));
    };
  });
  process.on('SIGINT', press);
  try {
    const onSubmit = () => {
      isSubmitting = true;
    };
    const begun = await Promise.race([work(interrupted.signal, onSubmit), pressed]);
    if (!interrupted.signal.aborted) return begun;
    throw ended(interruptions.after(begun));
  } finally {
    process.removeListener('SIGINT', press);
  }
}

type Work<T> = (signal: AbortSignal, onSubmit: () => void) => Promise<T>;

/** Messages after Ctrl-C: before the submission, during it, and after it. */
interface Interruptions<T> {
  before: string;
  unknown: string;
  after(begun: T): string;
}
