import { ProblemError } from '../../shared/client/problem-error.ts';
import { wait } from '../../shared/client/retry.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Experiment } from '../experiments/follow-experiment.ts';

/** The inputs of a training, as this command has stored them. */
export interface Meant {
  config_version: number;
  environment_version: number;
  source_sha256: string;
}

/** How often a change of somebody else is made up for. */
const maxAttempts = 12;
const longestMilliseconds = 3_000;

/**
 * Begins a training of the inputs that are meant. Where somebody has changed the project since they were stored, as the
 * other commands of a sweep do, they are stored again.
 *
 * @throws ProblemError 409 where that happens again and again
 */
export async function beginMeant(
  first: Meant,
  begin: (meant: Meant) => Promise<Experiment>,
  storeAgain: () => Promise<Meant>,
  signal: AbortSignal,
): Promise<Experiment> {
  let meant = first;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await begin(meant);
    } catch (error) {
      const isChanged = error instanceof ProblemError && error.status === 409 && error.faults.length > 0;
      if (!isChanged || attempt === maxAttempts) throw error;
      // Commands that got into each other's way do not meet again after different times.
      await wait(Math.random() * Math.min(longestMilliseconds, 100 * 2 ** attempt));
      if (signal.aborted) throw new CliError('Interrupted; nothing was submitted.', exitCodes.interrupted);
      meant = await storeAgain();
    }
  }
}
