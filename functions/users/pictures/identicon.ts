import { createHash } from 'node:crypto';
import { toPng } from 'jdenticon';
import { type PictureSize, pictureSides } from './picture-form.ts';

const style = { backColor: '#f4f5f7ff', padding: 0.1 };

/**
 * Draw the default picture of a user as PNG. It is stable, and different for every user. It is derived from the id
 * instead of the name, so a reused name does not bring back the former user's picture.
 */
export function drawIdenticon(user_id: string, size: PictureSize): Uint8Array {
  // Hash the id here: the library uses input that looks like a hash directly, and ids begin alike.
  return toPng(createHash('sha256').update(user_id).digest('hex'), pictureSides[size], style);
}
