import { writePictures } from '../../../shared/aws/needs.ts';
import { writeCredentials } from '../../../shared/data/accounts/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requireMayChangeAccount, userPath } from '../account.ts';
import { changePicture, PictureAnswer, pictureAnswer } from './change-picture.ts';
import { requireUserWithPicture } from './picture-store.ts';

export const endpoint = defineEndpoint({
  name: 'deleteProfilePicture',
  method: 'DELETE',
  path: '/users/{username}/profile_picture/',
  summary: 'Remove a profile picture',
  description:
    'The user gets the identicon again. Without an uploaded picture nothing changes. Only the user and admins may call this.',
  allow: 'guest',
  needs: { accounts: writeCredentials, objects: writePictures },
  input: { path: userPath },
  output: { 200: PictureAnswer },
  problems: ['forbidden', 'not-found', 'conflict', 'precondition-failed'],
  etag: true,

  async handle({ path: { username } }, context) {
    requireMayChangeAccount(context.caller, username);
    const { user } = await requireUserWithPicture(context.accounts, username);
    return pictureAnswer(user, await changePicture(context, user, context.newId(), null));
  },
});
