import { wait } from '../../shared/client/retry.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Printer } from '../output/printer.ts';

/**
 * Follow a job on the service. The first Ctrl-C detaches. A second one within two seconds cancels the job.
 *
 * @throws CliError if the user detaches
 */
export async function detachable<T>(
  follow: (signal: AbortSignal) => Promise<T>,
  detaching: Detaching,
): Promise<T> {
  const detached = new AbortController();
  const detach = () => detached.abort();
  process.once('SIGINT', detach);
  try {
    return await follow(detached.signal);
  } catch (error) {
    if (!detached.signal.aborted) throw error;
    throw await afterDetaching(detaching);
  } finally {
    process.removeListener('SIGINT', detach);
  }
}

export interface Detaching {
  printer: Printer;
  /** Kind of the job, such as `training`. */
  what: string;
  /** Command that follows the job again. */
  again: string;
  /** Cancel the job and return a message. */
  cancel(): Promise<string>;
}

/** Milliseconds in which a second Ctrl-C cancels the job. */
const secondMilliseconds = 2_000;

/** Return the error after a Ctrl-C. Wait two seconds for a second Ctrl-C that cancels the job. */
async function afterDetaching({ printer, what, again, cancel }: Detaching): Promise<CliError> {
  printer.say(`\nDetached; the ${what} continues. Press Ctrl-C again to cancel it.`);
  let press = () => {};
  const second = new Promise<boolean>((resolve) => {
    press = () => resolve(true);
    process.once('SIGINT', press);
  });
  const isCancelled = await Promise.race([second, wait(secondMilliseconds).then(() => false)]);
  process.removeListener('SIGINT', press);
  if (isCancelled) return new CliError(await cancel(), exitCodes.interrupted);
  return new CliError(`To follow it again: ${again}`, exitCodes.interrupted);
}
