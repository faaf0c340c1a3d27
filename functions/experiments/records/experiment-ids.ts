import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';

/** Maximum number of experiments of a request. Each takes two reads and one transaction. */
const maxExperiments = 100;

/** IDs of the experiments of a request, each once. */
export const ExperimentIds = z
  .array(Ulid)
  .min(1)
  .max(maxExperiments)
  .transform((ids) => [...new Set(ids)])
  .describe('IDs of experiments of the project.');

/** Number of experiments that are changed at the same time. */
const lanes = 8;

/** Change experiments, a few at a time. */
export async function inTurn<T>(things: readonly T[], act: (thing: T) => Promise<unknown>): Promise<void> {
  const queue = [...things];
  const lane = async (): Promise<void> => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await act(one);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
