import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { findUserId, parseUser, type User, userKey, userPartition } from './user.ts';

const picture = recordType('picture', () =>
  z.object({
    user_id: Ulid,
    /** Id in the keys of the stored objects. Null once the picture is removed; then the identicon replaces it. */
    picture_id: Ulid.nullable(),
    updated_at: Timestamp,
    /** Keeps counting across removals, so two pictures of a user never share an ETag. */
    version: z.number().int().positive(),
  }),
);
/** Current picture of a user. A user who never had a picture has no such record. */
export type Picture = z.infer<typeof picture.schema>;

/** Return the bucket prefix of all objects of a user's pictures. */
export const picturesPrefix = (user_id: string): string => `pictures/${user_id}/`;

/** Return the user with this name (in lower case) and their picture. Return undefined if no user has the name. */
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

/** In the partition of the user's password and tokens, so the removal of these also removes the picture. */
const pictureKey = (user_id: string): Key => ({ pk: userPartition(user_id), sk: 'PICTURE' });

/** Return the picture of a user. Return undefined if they never had one, or are gone. */
export const findPicture = (accounts: Accounts, user_id: string): Promise<Picture | undefined> =>
  picture.find(accounts, pictureKey(user_id));

/** Label of the check that the user of a picture exists. */
export const pictureOwner = new WriteLabel('owner of the picture');

/**
 * Set or remove the current picture.
 * @throws ConditionFailedError if another change came between (write 0) or the user was deleted (write 1)
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
