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
import { discardPicture, removeLeftoverPictures } from './picture-store.ts';

/**
 * Make a stored picture, or none, the current one of the user. The change is atomic: concurrent changes apply one
 * after the other, and the last one wins. Return the current picture. After an error no record names the new
 * picture.
 *
 * @param change id of this change, and of the new picture if there is one
 * @throws ServiceError `not-found` once the user is deleted, `precondition-failed` if the precondition fails
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
    // An earlier attempt wrote this picture, but its success was not reported. Do not treat the new picture as the
    // replaced one.
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
    await tidy(context, user_id, removeLeftoverPictures(context.objects, user_id, change, replaced));
    return picture;
  });
}

interface PictureContext extends Pick<Ambient, 'header' | 'expectedVersion' | 'now' | 'newId' | 'log'> {
  accounts: TableWriter<'accounts'>;
  objects: ObjectWriter;
}

/** Remove objects that no record names. If it fails, a later change or the user's deletion removes them. */
async function tidy({ log }: PictureContext, user_id: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    log.warn('pictures-left', { user_id, error: errorName(error) });
  }
}

/** Remove a stored picture that did not become the current one. */
export function discard(context: PictureContext, user_id: string, picture_id: string): Promise<void> {
  return tidy(context, user_id, discardPicture(context.objects, user_id, picture_id));
}

/** The response to a change of a picture. */
export const PictureAnswer = z.object({
  user_id: Ulid,
  username: z.string(),
  picture: z.enum(['uploaded', 'identicon']),
  /** Time of the last upload or removal; null if there never was a picture. */
  updated_at: Timestamp.nullable(),
  version: z.number().int(),
});

/** The current picture of a user. Version 0 is the identicon of a user who never uploaded a picture. */
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
