import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';

export const projectId = Ulid.describe('Id of the project, from the response that created it.');

/** Path parameters of everything about one project as a whole. */
export const projectPath = z.strictObject({ project_id: projectId });
