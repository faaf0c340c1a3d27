import * as z from 'zod';
import { Ulid } from '../core/formats.ts';
import { projectId } from '../http/definition/parameters.ts';

/** Path parameters of everything about one experiment. */
export const experimentPath = z.strictObject({
  project_id: projectId,
  experiment_id: Ulid.describe(
    'The experiment: the `experiment_id` that the start of the training answered.',
  ),
});
