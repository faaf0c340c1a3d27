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

/** Longer than any request: pictures that are so much older than the current one are unused. */
const abandonedMilliseconds = 15 * 60 * 1000;

const extensions = { 'image/webp': 'webp', 'image/png': 'png' } as const;

/** `pictures/<user_id>/<picture_id>/512.webp`: of ids that the service made, and nothing that a caller sent. */
function objectKey(user_id: string, picture_id: string, { size, mediaType }: PictureForm): string {
  return `${picturesPrefix(user_id)}${picture_id}/${pictureSides[size]}.${extensions[mediaType]}`;
}

/** Stores the forms of a new picture, before any record names it. */
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

/** The bytes of the current picture in one form; undefined where it was replaced meanwhile. */
export async function readPicture(
  objects: ObjectReader,
  { user_id }: Pick<Picture, 'user_id'>,
  picture_id: string,
  form: PictureForm,
): Promise<Uint8Array | undefined> {
  const stream = await objects.read(objectKey(user_id, picture_id, form));
  return stream && buffer(stream);
}

/** Removes a picture that no record names, nor will. */
export async function discardPicture(
  objects: ObjectWriter,
  user_id: string,
  picture_id: string,
): Promise<void> {
  await objects.delete(pictureForms.map((form) => objectKey(user_id, picture_id, form)));
}

/**
 * Remove leftovers of a change under a user's prefix: the picture before it, and those of requests that died before
 * they could name them. A younger picture may be about to become the current one.
 *
 * @param change id that the change itself made, and that says when it was
 */
export async function sweepPictures(
  objects: ObjectWriter,
  user_id: string,
  change: string,
  replaced: string | null,
): Promise<void> {
  const prefix = picturesPrefix(user_id);
  // Ids begin with their time, and sort by it.
  const oldest = encodeTime(decodeTime(change) - abandonedMilliseconds).toLowerCase();
  const { objects: stored } = await objects.list(prefix);
  const left = stored.filter(({ key }) => {
    const [picture_id = ''] = key.slice(prefix.length).split('/');
    return picture_id === replaced || picture_id < oldest;
  });
  await objects.delete(left.map(({ key }) => key));
}

/** The user of this name with their picture. Throws a 404 problem where there is none. */
export async function requireUserWithPicture(
  accounts: TableReader<'accounts'>,
  username: string,
): Promise<{ user: User; picture: Picture | undefined }> {
  const found = await findUserWithPicture(accounts, username);
  if (found === undefined) throw notFound('user', username);
  return found;
}
