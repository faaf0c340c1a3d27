import * as z from 'zod';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';

/** A token without its secret. */
export const TokenAnswer = z
  .object({
    token_id: Ulid,
    /** Null for one of a sign-in. */
    name: z.string().nullable(),
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'Token' });
