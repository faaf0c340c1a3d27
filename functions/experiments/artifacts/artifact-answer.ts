import * as z from 'zod';
import { Sha256, Timestamp } from '../../../shared/core/formats.ts';

/** A file of an experiment as it is answered. */
export const ArtifactAnswer = z.object({
  path: z.string(),
  size: z.number().int(),
  sha256: Sha256.nullable().describe('Null for a file that a client sent in parts.'),
  media_type: z.string(),
  created_at: Timestamp,
});
