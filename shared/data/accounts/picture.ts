import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { findUserId, parseUser, type User, userKey, userPartition } from './user.ts';

const picture = recordType('picture', () =>
  z.object({
    user_id: Ulid,
    /** Names the stored objects; null once the picture was removed, when the identicon stands for it again. */
    picture_id: Ulid.nullable(),
    updated_at: Timestamp,
    /** Goes on counting over removals, so that no two pictures of a user ever share an ETag. */
    version: z.number().int().positive(),
  }),
);
/** Which picture of a user is the current one. A user who never had one has no such record. */
export type Picture = z.infer<typeof picture.schema>;

/** Everything of a user's pictures lies under this prefix of the bucket. */
export const picturesPrefix = (user_id: string): string => `pictures/${user_id}/`;

/** The user of this name (in lower case) with their picture; undefined where nobody has the name. */
export async function findUserWithPicture(
  accounts: Accounts,
  username: string,
): Promise<{ user: User; picture: Picture | undefined } | undefined> {
  const user_id = await findUserId(accounts, username);
  if (user_id === undefined) return undefined;
  const [userItem, item] = await accounts.batchGet([userKey(user_id), pictureKey(user_id)]);
  return userItem && { user: parseUser(userItem), picture: item && picture.parse(item) };
}

type Accounts = TableReader<'accounts'>;

/** Beside the user's password and tokens, so that whatever removes those removes this. */
const pictureKey = (user_id: string): Key => ({ pk: userPartition(user_id), sk: 'PICTURE' });

/** The picture of the user of this id; undefined where they never had one, or are gone. */
export async function findPicture(accounts: Accounts, user_id: string): Promise<Picture | undefined> {
  const item = await accounts.get(pictureKey(user_id));
  return item && picture.parse(item);
}

/** The write that requires the user of a picture to exist. */
export const pictureOwner = new WriteLabel('owner of the picture');

/**
 * Makes another picture, or none, the current one.
 * @throws ConditionFailedError when another change came between (write 0) or the user was deleted (write 1)
 */
export async function putPicture(
  accounts: TableWriter<'accounts'>,
  value: Picture,
  previous: Picture | undefined,
): Promise<void> {
  await accounts.write(
    {
      put: picture.item(pictureKey(value.user_id), value),
      if: previous === undefined ? { exists: false } : { equals: { version: previous.version } },
    },
    pictureOwner.on({ check: userKey(value.user_id), if: { exists: true } }),
  );
}
