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

/** Number of experiments of a request that are changed at the same time. */
export const changesAtOnce = 8;
