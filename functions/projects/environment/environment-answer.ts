import * as z from 'zod';
import { Timestamp } from '../../../shared/core/formats.ts';
import { EnvironmentType } from '../../../shared/data/projects/environment.ts';

/** The environment of a project as every operation returns it. */
export const EnvironmentAnswer = z
  .object({
    entry_point_command: z.string(),
    env_type: EnvironmentType,
    dependencies: z.string(),
    lock_hash: z.string().nullable(),
    updated_at: Timestamp,
    version: z.number().int(),
  })
  .meta({ id: 'Environment' });
