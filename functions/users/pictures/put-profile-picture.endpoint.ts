import { writePictures } from '../../../shared/aws/needs.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { writeCredentials } from '../../../shared/data/accounts/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { bytesMediaType, file } from '../../../shared/http/definition/endpoint-input.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { requireMayChangeAccount, userPath } from '../account.ts';
import { changePicture, discard, PictureAnswer, pictureAnswer } from './change-picture.ts';
import { uploadMediaTypes } from './picture-form.ts';
import { requireUserWithPicture, storePicture } from './picture-store.ts';
import { renderPicture } from './render-picture.ts';

/** Maximum bytes of an uploaded picture: 4 MiB. */
const pictureMaxBytes = 4 * 1024 * 1024;

export const endpoint = defineEndpoint({
  name: 'putProfilePicture',
  method: 'PUT',
  path: '/users/{username}/profile_picture/',
  summary: 'Upload a profile picture',
  description:
    'The body is a PNG, JPEG, WebP or GIF picture of at most 4 MiB and 40 megapixels, under its own Content-Type or `application/octet-stream`. It is rotated upright, cropped to a square around its most prominent part and encoded again. Metadata is removed. Only the first frame of an animation is kept. Only the user and admins may call this.',
  allow: 'guest',
  needs: { accounts: writeCredentials, objects: writePictures },
  // A picture of 40 megapixels takes 160 MB unpacked, and rotating and scaling need more.
  runtime: { memory: 1536, native: ['sharp'] },
  input: { path: userPath, body: file([bytesMediaType, ...uploadMediaTypes], pictureMaxBytes) },
  output: { 200: PictureAnswer },
  problems: [
    'forbidden',
    'not-found',
    'conflict',
    'precondition-failed',
    'too-large',
    'unsupported-media-type',
  ],
  etag: true,

  async handle({ path: { username }, body }, context) {
    const { accounts, objects, caller, newId } = context;
    requireMayChangeAccount(caller, username);
    const { user, picture: present } = await requireUserWithPicture(accounts, username);
    requirePrecondition(context, present?.version ?? 0);
    const forms = await renderPicture(
      body.bytes,
      body.mediaType === bytesMediaType ? undefined : body.mediaType,
    );
    const picture_id = newId();
    await storePicture(objects, user.user_id, picture_id, forms);
    try {
      return pictureAnswer(user, await changePicture(context, user, picture_id, picture_id));
    } catch (error) {
      // After any other failure, the record may still name the picture.
      if (error instanceof ServiceError) await discard(context, user.user_id, picture_id);
      throw error;
    }
  },
});
