import { CliError, exitCodes } from '../cli-error.ts';

/** Run work that Ctrl-C ends. @throws CliError with the text of `interrupted` after Ctrl-C */
export async function untilInterrupted<T>(
  work: (signal: AbortSignal) => Promise<T>,
  interrupted: string,
): Promise<T> {
  const pressed = new AbortController();
  const press = () => pressed.abort();
  process.on('SIGINT', press);
  try {
    return await work(pressed.signal);
  } catch (error) {
    if (!pressed.signal.aborted || error instanceof CliError) throw error;
    throw new CliError(interrupted, exitCodes.interrupted);
  } finally {
    process.removeListener('SIGINT', press);
  }
}
