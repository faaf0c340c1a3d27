import { readPictures } from '../../../shared/aws/needs.ts';
import { readAccounts } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { bytesMediaType } from '../../../shared/http/definition/endpoint-input.ts';
import { content } from '../../../shared/http/definition/endpoint-output.ts';
import { userPath } from '../user-path.ts';
import { type PictureSize, pictureMediaTypes, pictureSides } from './picture-form.ts';
import { sendPicture } from './send-picture.ts';

const words = {
  profile_picture: { name: 'readProfilePicture', summary: "A user's profile picture" },
  thumbnail: { name: 'readThumbnail', summary: "Thumbnail of a user's profile picture" },
} as const;

/** The reading of a user's picture in one of its sizes. */
export const readPictureEndpoint = (size: PictureSize) =>
  defineEndpoint({
    ...words[size],
    method: 'GET',
    path: `/users/{username}/${size}/`,
    description: `${pictureSides[size]} × ${pictureSides[size]} pixels, WebP, or PNG by \`Accept\`. Users without a picture get an identicon, always PNG. A guest sees only their own.`,
    allow: 'guest',
    needs: { accounts: readAccounts, objects: readPictures },
    input: { path: userPath },
    output: { 200: content([...pictureMediaTypes, bytesMediaType]) },
    problems: ['forbidden', 'not-found'],
    etag: true,

    handle({ path: { username } }, context) {
      return sendPicture(size, username, context);
    },
  });
