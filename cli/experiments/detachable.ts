import { wait } from '../../shared/client/retry.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Printer } from '../output/printer.ts';

/**
 * Follows what runs on the service. Ctrl-C leaves it running; a second one within two seconds cancels it.
 *
 * @throws CliError when the person goes away
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
  /** What continues on the service, such as `training`. */
  what: string;
  /** The command that follows it again. */
  again: string;
  /** Ends it, and returns what to say of that. */
  cancel(): Promise<string>;
}

/** A second Ctrl-C within this time cancels. */
const secondMilliseconds = 2_000;

/** The end of a command whose person went away: they may still cancel, for two seconds. */
async function afterDetaching({ printer, what, again, cancel }: Detaching): Promise<CliError> {
  printer.say(`\nDetached; the ${what} goes on. Ctrl-C once more cancels it.`);
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
