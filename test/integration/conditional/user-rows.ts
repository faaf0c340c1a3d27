import { endpoint as changePassword } from '../../../functions/users/change-password.endpoint.ts';
import { endpoint as changeUserType } from '../../../functions/users/change-user-type.endpoint.ts';
import { endpoint as createUser } from '../../../functions/users/create-user.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { endpoint as deletePicture } from '../../../functions/users/pictures/delete-profile-picture.endpoint.ts';
import { drawIdenticon } from '../../../functions/users/pictures/identicon.ts';
import { endpoint as putPicture } from '../../../functions/users/pictures/put-profile-picture.endpoint.ts';
import { endpoint as readPicture } from '../../../functions/users/pictures/read-profile-picture.endpoint.ts';
import { endpoint as readThumbnail } from '../../../functions/users/pictures/read-thumbnail.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { endpoint as readUser } from '../../../functions/users/read-user.endpoint.ts';
import type { Rows } from './rows.ts';

/** Picture `n`. */
const picture = (n: number) => drawIdenticon(`picture ${n}`, 'thumbnail');

/** Everything below `/users/` whose answer has an ETag or that a precondition guards. */
export const userRows: Rows = {
  reads: [
    { endpoint: readUser, change: changePassword },
    { endpoint: readOwnAccount, change: changePassword },
    { endpoint: readPicture, accept: 'image/webp', change: putPicture },
    { endpoint: readPicture, accept: 'image/png', change: deletePicture },
    { endpoint: readThumbnail, accept: 'image/webp', change: putPicture },
    { endpoint: readThumbnail, accept: 'image/png', change: deletePicture },
  ],
  changes: [
    {
      endpoint: changePassword,
      content: (n) => ({
        body: JSON.stringify({ password: `a fine password ${n}` }),
        headers: { 'Content-Type': 'application/json' },
      }),
      reads: readUser,
      effect: 'sets',
    },
    {
      endpoint: putPicture,
      content: (n) => ({ body: picture(n), headers: { 'Content-Type': 'image/png' } }),
      reads: readPicture,
      effect: 'sets',
      few: true,
    },
    { endpoint: deletePicture, content: () => ({}), reads: readPicture, effect: 'sets' },
    { endpoint: deleteUser, content: () => ({}), reads: readUser, effect: 'removes' },
  ],
  tagged: [createUser, changeUserType],
};
