import * as z from 'zod';
import { Ulid } from '../../shared/endpoint/parameters.ts';

/** Path parameters of everything about one experiment. */
export const experimentPath = z.strictObject({ project_id: Ulid, experiment_id: Ulid });
