import { buffer } from 'node:stream/consumers';
import { decodeTime, encodeTime } from 'ulid';
import type { ObjectReader, ObjectWriter } from '../../../shared/aws/objects.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { findUserWithPicture, type Picture, picturesPrefix } from '../../../shared/data/accounts/picture.ts';
import type { User } from '../../../shared/data/accounts/user.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { type PictureForm, pictureForms, pictureSides } from './picture-form.ts';

/** A picture in one of its forms, with its bytes. */
export interface DrawnPicture extends PictureForm {
  bytes: Uint8Array;
}

/**
 * Age difference in milliseconds, longer than any request: a picture that is this much older than the current one
 * is unused.
 */
const abandonedMilliseconds = 15 * 60 * 1000;

const extensions = { 'image/webp': 'webp', 'image/png': 'png' } as const;

/**
 * Object key: `pictures/<user_id>/<picture_id>/512.webp`. It contains only ids from the service, never input of a
 * caller.
 */
function objectKey(user_id: string, picture_id: string, { size, mediaType }: PictureForm): string {
  return `${picturesPrefix(user_id)}${picture_id}/${pictureSides[size]}.${extensions[mediaType]}`;
}

/** Store the forms of a new picture, before any record names it. */
export async function storePicture(
  objects: ObjectWriter,
  user_id: string,
  picture_id: string,
  forms: readonly DrawnPicture[],
): Promise<void> {
  await Promise.all(
    forms.map((form) => objects.put(objectKey(user_id, picture_id, form), form.bytes, form.mediaType)),
  );
}

/** Return the bytes of the current picture in one form; undefined if another picture has replaced it. */
export async function readPicture(
  objects: ObjectReader,
  { user_id }: Pick<Picture, 'user_id'>,
  picture_id: string,
  form: PictureForm,
): Promise<Uint8Array | undefined> {
  const stream = await objects.read(objectKey(user_id, picture_id, form));
  return stream && buffer(stream);
}

/** Remove a picture that no record names or will name. */
export async function discardPicture(
  objects: ObjectWriter,
  user_id: string,
  picture_id: string,
): Promise<void> {
  await objects.delete(pictureForms.map((form) => objectKey(user_id, picture_id, form)));
}

/**
 * Remove leftovers under a user's prefix: the replaced picture, and pictures of requests that crashed before they
 * could name them. Keep younger pictures, because one may be about to become the current one.
 *
 * @param change id of this change; its time is the time of the change
 */
export async function removeLeftoverPictures(
  objects: ObjectWriter,
  user_id: string,
  change: string,
  replaced: string | null,
): Promise<void> {
  const prefix = picturesPrefix(user_id);
  // Ids begin with a timestamp, so they sort by time.
  const oldest = encodeTime(decodeTime(change) - abandonedMilliseconds).toLowerCase();
  const { objects: stored } = await objects.list(prefix);
  const left = stored.filter(({ key }) => {
    const [picture_id = ''] = key.slice(prefix.length).split('/');
    return picture_id === replaced || picture_id < oldest;
  });
  await objects.delete(left.map(({ key }) => key));
}

/** Return the user with this name and their picture. Throw a 404 problem if the user does not exist. */
export async function requireUserWithPicture(
  accounts: TableReader<'accounts'>,
  username: string,
): Promise<{ user: User; picture: Picture | undefined }> {
  const user = await findUserWithPicture(accounts, username);
  if (user === undefined) throw notFound('user', username);
  return user;
}
