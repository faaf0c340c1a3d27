import { createHash } from 'node:crypto';
import { toPng } from 'jdenticon';
import { type PictureSize, pictureSides } from './picture-form.ts';

const style = { backColor: '#f4f5f7ff', padding: 0.1 };

/**
 * Draw the default picture of a user, as PNG: always the same for one user, and another for every other. It is made
 * of the id, not of the name, so that a reused name does not bring back the former user's picture.
 */
export function drawIdenticon(user_id: string, size: PictureSize): Uint8Array {
  // Hashed here, because the library takes what looks like a hash for one, and ids begin alike.
  return toPng(createHash('sha256').update(user_id).digest('hex'), pictureSides[size], style);
}
