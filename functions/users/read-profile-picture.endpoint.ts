import { readPictures } from '../../shared/aws/needs.ts';
import { readAccounts } from '../../shared/data/needs.ts';
import { content, defineEndpoint } from '../../shared/endpoint/definition.ts';
import { lambda } from '../../shared/endpoint/lambda.ts';
import { pictureMediaTypes } from '../../shared/pictures/picture-form.ts';
import { sendPicture } from './send-picture.ts';
import { userPath } from './user-path.ts';

export const endpoint = defineEndpoint({
  name: 'readProfilePicture',
  method: 'GET',
  path: '/users/{username}/profile_picture/',
  summary: "A user's profile picture",
  description:
    '512 × 512 pixels, WebP, or PNG by `Accept`; a drawn identicon for a user who has uploaded none. A guest sees only their own.',
  allow: 'guest',
  needs: { accounts: readAccounts, objects: readPictures },
  input: { path: userPath },
  output: { 200: content(pictureMediaTypes) },
  problems: ['forbidden', 'not-found'],
  etag: true,

  handle({ path: { username } }, context) {
    return sendPicture('profile_picture', username, context);
  },
});

export const handler = lambda(endpoint);
