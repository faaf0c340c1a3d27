import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import type { Picture } from '../../../shared/data/accounts/picture.ts';
import type { User } from '../../../shared/data/accounts/user.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';

/** The response to a change of a picture. */
export const PictureAnswer = z.object({
  user_id: Ulid,
  username: z.string(),
  picture: z.enum(['uploaded', 'identicon']),
  /** When it was last uploaded or removed; null where there never was one. */
  updated_at: Timestamp.nullable(),
  version: z.number().int(),
});

/** A user's picture as it is now; version 0 is the identicon of a user who never uploaded one. */
export function pictureAnswer(
  { user_id, username }: User,
  picture: Picture | undefined,
): Reply<z.input<typeof PictureAnswer>> {
  const version = picture?.version ?? 0;
  return Reply.json(
    {
      user_id,
      username,
      picture: (picture?.picture_id ?? null) === null ? 'identicon' : 'uploaded',
      updated_at: picture?.updated_at ?? null,
      version,
    },
    { version },
  );
}
