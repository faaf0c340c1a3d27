import * as z from 'zod';
import { Ulid } from '../core/formats.ts';

export const projectId = Ulid.describe('The project: the `project_id` that its creation answered.');

/** Path parameters of everything about one project as a whole. */
export const projectPath = z.strictObject({ project_id: projectId });
