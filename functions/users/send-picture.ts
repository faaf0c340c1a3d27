import type { ObjectReader } from '../../shared/aws/objects.ts';
import type { TableReader } from '../../shared/data/table.ts';
import { preferredMediaType } from '../../shared/endpoint/accept.ts';
import type { Ambient, Caller } from '../../shared/endpoint/definition.ts';
import { Reply } from '../../shared/endpoint/reply.ts';
import { drawIdenticon } from '../../shared/pictures/identicon.ts';
import { type PictureForm, type PictureSize, pictureMediaTypes } from '../../shared/pictures/picture-form.ts';
import { readPicture } from '../../shared/pictures/picture-store.ts';
import { requireMaySee, requireUserWithPicture } from './picture-access.ts';

/** A picture that was replaced between reading its record and its bytes is looked up again, so often. */
const rounds = 5;

interface Context extends Pick<Ambient, 'header'> {
  accounts: TableReader<'accounts'>;
  objects: ObjectReader;
  caller: Caller;
}

/** Answers the current picture of a user in one size, by `Accept`, or their identicon where they have none. */
export async function sendPicture(
  size: PictureSize,
  username: string,
  { accounts, objects, caller, header }: Context,
): Promise<Reply<never>> {
  requireMaySee(caller, username);
  const form: PictureForm = { size, mediaType: preferredMediaType(header('Accept'), pictureMediaTypes) };
  for (let round = 1; round <= rounds; round += 1) {
    const { user, picture } = await requireUserWithPicture(accounts, username);
    const { picture_id = null, version = 0 } = picture ?? {};
    const bytes =
      picture_id === null
        ? drawIdenticon(user.user_id, form)
        : await readPicture(objects, user, picture_id, form);
    if (bytes !== undefined) {
      return Reply.content(form.mediaType, bytes, { headers: { Vary: 'Accept' }, version });
    }
  }
  throw new Error(`the picture of ${username} is on record but not in the bucket`);
}
