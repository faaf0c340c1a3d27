import type { ObjectWriter } from '../../shared/aws/objects.ts';
import { type Picture, putPicture } from '../../shared/data/picture.ts';
import { ConditionFailed, type TableWriter } from '../../shared/data/table.ts';
import type { User } from '../../shared/data/user.ts';
import type { Ambient, Caller } from '../../shared/endpoint/definition.ts';
import { requirePrecondition } from '../../shared/endpoint/precondition.ts';
import { Problem } from '../../shared/endpoint/problem.ts';
import { sweepPictures } from '../../shared/pictures/picture-store.ts';
import { requireUserWithPicture } from './picture-access.ts';

/** Somebody always wins a round, so this many contenders for one picture all come through. */
const rounds = 8;

export interface PictureContext
  extends Pick<Ambient, 'header' | 'expectedVersion' | 'now' | 'newId' | 'log'> {
  accounts: TableWriter<'accounts'>;
  objects: ObjectWriter;
  caller: Caller;
}

interface Change {
  user: User;
  /** The picture as it is after the change. */
  picture: Picture | undefined;
}

/** Removes what nothing names any more. What fails here is left for the next change, or for the user's deletion. */
async function sweep(
  { objects, log }: PictureContext,
  user_id: string,
  change: string,
  replaced: string | null | undefined,
): Promise<void> {
  try {
    await sweepPictures(objects, user_id, change, replaced);
  } catch (error) {
    log.warn('pictures-left', { user_id, error: error instanceof Error ? error.name : '' });
  }
}

/**
 * Makes a stored picture, or none, the current one of the user, in one step: of several at once each becomes the
 * current one in turn, and the last stays. Throws 404 once the user is gone, 412 for a precondition that does not
 * hold, 409 when others keep coming between; then, and only then, is it sure that nothing names the picture.
 *
 * @param change id of this change, and of the new picture where there is one
 */
export async function changePicture(
  context: PictureContext,
  username: string,
  change: string,
  picture_id: string | null,
): Promise<Change> {
  const { accounts, now } = context;
  for (let round = 1; round <= rounds; round += 1) {
    const { user, picture: previous } = await requireUserWithPicture(accounts, username);
    requirePrecondition(context, previous?.version ?? 0);
    if (picture_id === null && (previous?.picture_id ?? null) === null) return { user, picture: previous };
    const { user_id } = user;
    const version = (previous?.version ?? 0) + 1;
    const picture = { user_id, picture_id, updated_at: now().toISOString(), version };
    try {
      await putPicture(accounts, picture, previous);
    } catch (error) {
      if (error instanceof ConditionFailed) continue;
      throw error;
    }
    await sweep(context, user_id, change, previous?.picture_id);
    return { user, picture };
  }
  throw new Problem('conflict', 'Others are changing this at the same moment. Try again.');
}
