import * as z from 'zod';
import type { ObjectWriter } from '../../../shared/aws/objects.ts';
import { errorName } from '../../../shared/core/error-text.ts';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import {
  findPicture,
  type Picture,
  pictureOwner,
  putPicture,
} from '../../../shared/data/accounts/picture.ts';
import type { User } from '../../../shared/data/accounts/user.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import type { Ambient } from '../../../shared/http/definition/endpoint-context.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { discardPicture, sweepPictures } from './picture-store.ts';

/**
 * Make a stored picture, or none, the current one of the user, in one step: of several at once each becomes the current
 * one in turn, and the last stays. Return the one that is current then. After an error nothing names the new picture.
 *
 * @param change id of this change, and of the new picture where there is one
 * @throws ServiceError `not-found` once the user is gone, `precondition-failed` for a precondition that does not hold
 * @throws ServiceError `conflict` when other changes keep coming between
 */
export function changePicture(
  context: PictureContext,
  { user_id, username }: User,
  change: string,
  picture_id: string | null,
): Promise<Picture | undefined> {
  const { accounts, now } = context;
  return retryOnConflict(async () => {
    const previous = await findPicture(accounts, user_id);
    const replaced = previous?.picture_id ?? null;
    // A write whose success was not heard of; what it made current must not be taken for what it replaced.
    if (picture_id !== null && replaced === picture_id) return previous;
    requirePrecondition(context, previous?.version ?? 0);
    if (picture_id === null && replaced === null) return previous;
    const version = (previous?.version ?? 0) + 1;
    const picture = { user_id, picture_id, updated_at: now().toISOString(), version };
    try {
      await putPicture(accounts, picture, previous);
    } catch (error) {
      if (pictureOwner.failedIn(error)) throw notFound('user', username);
      throw error;
    }
    await tidy(context, user_id, sweepPictures(context.objects, user_id, change, replaced));
    return picture;
  });
}

interface PictureContext extends Pick<Ambient, 'header' | 'expectedVersion' | 'now' | 'newId' | 'log'> {
  accounts: TableWriter<'accounts'>;
  objects: ObjectWriter;
}

/** Removes objects that nothing names. What fails here is left for a later change, or for the user's deletion. */
async function tidy({ log }: PictureContext, user_id: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    log.warn('pictures-left', { user_id, error: errorName(error) });
  }
}

/** Removes a picture that was stored and did not become the current one. */
export function discard(context: PictureContext, user_id: string, picture_id: string): Promise<void> {
  return tidy(context, user_id, discardPicture(context.objects, user_id, picture_id));
}

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
