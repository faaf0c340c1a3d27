import * as z from 'zod';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';

/** A project as every operation returns it. */
export const ProjectAnswer = z
  .object({
    project_id: Ulid,
    project_name: z.string(),
    project_description: z.string(),
    project_type: z.string(),
    project_task: z.string(),
    owner: z.string().nullable(),
    owner_id: Ulid,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Project' });
