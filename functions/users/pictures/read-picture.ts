import { readPictures } from '../../../shared/aws/needs.ts';
import type { ObjectReader } from '../../../shared/aws/objects.ts';
import { readCredentials } from '../../../shared/data/accounts/needs.ts';
import type { User } from '../../../shared/data/accounts/user.ts';
import { readAgain, retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { preferredMediaType } from '../../../shared/http/body/accept.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import type { Ambient, Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { bytesMediaType } from '../../../shared/http/definition/endpoint-input.ts';
import { content } from '../../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { requireMaySeeAccount, userPath } from '../account.ts';
import { type PictureForm, type PictureSize, pictureMediaTypes, pictureSides } from './picture-form.ts';
import { readPicture, requireUserWithPicture } from './picture-store.ts';

const words = {
  profile_picture: { name: 'readProfilePicture', summary: "A user's profile picture" },
  thumbnail: { name: 'readThumbnail', summary: "Thumbnail of a user's profile picture" },
} as const;

/** The endpoint that reads a user's picture in one size. */
export const readPictureEndpoint = (size: PictureSize) =>
  defineEndpoint({
    ...words[size],
    method: 'GET',
    path: `/users/{username}/${size}/`,
    description: `${pictureSides[size]} × ${pictureSides[size]} pixels, WebP, or PNG by \`Accept\`. Users without a picture get an identicon, always PNG. A guest sees only their own.`,
    allow: 'guest',
    needs: { accounts: readCredentials, objects: readPictures },
    input: { path: userPath },
    output: { 200: content([...pictureMediaTypes, bytesMediaType]) },
    problems: ['forbidden', 'not-found'],
    etag: true,

    handle({ path: { username } }, context) {
      return sendPicture(size, username, context);
    },
  });

/** Draw the identicon. The lazy import saves a server 16 MB until the first identicon. */
async function identicon({ user_id }: User, size: PictureSize): Promise<Uint8Array> {
  const { drawIdenticon } = await import('./identicon.ts');
  return drawIdenticon(user_id, size);
}

interface Context extends Pick<Ambient, 'header'> {
  accounts: TableReader<'accounts'>;
  objects: ObjectReader;
  caller: Caller;
}

/**
 * Reply with the current picture of a user in one size and the media type that `Accept` prefers. Without a
 * picture, reply with the identicon, which is always PNG.
 */
async function sendPicture(
  size: PictureSize,
  username: string,
  { accounts, objects, caller, header }: Context,
): Promise<Reply<never>> {
  requireMaySeeAccount(caller, username);
  const label = preferredMediaType(header('Accept'), [...pictureMediaTypes, bytesMediaType]);
  const form: PictureForm = { size, mediaType: label === bytesMediaType ? pictureMediaTypes[0] : label };
  const send = async () => {
    const { user, picture } = await requireUserWithPicture(accounts, username);
    const { picture_id = null, version = 0 } = picture ?? {};
    const extras = { headers: { Vary: 'Accept' }, version };
    if (picture_id === null) return Reply.content('image/png', await identicon(user, size), extras);
    const bytes = await readPicture(objects, user, picture_id, form);
    // Another change may have replaced the picture between the reads of its record and its bytes.
    return bytes === undefined ? readAgain : Reply.content(label, bytes, extras);
  };
  const giveUp = () => {
    throw new Error(`the picture of ${username} is recorded but missing in the bucket`);
  };
  return retryOnConflict(send, { giveUp });
}
