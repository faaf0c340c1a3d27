import * as z from 'zod';
import { Ulid } from '../core/formats.ts';
import { projectId } from '../http/definition/parameters.ts';

/** Path parameters of all endpoints of one experiment. */
export const experimentPath = z.strictObject({
  project_id: projectId,
  experiment_id: Ulid.describe('ID of the experiment, from the response that started the training.'),
});
