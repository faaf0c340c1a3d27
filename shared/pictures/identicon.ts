import { createHash } from 'node:crypto';
import { toPng } from 'jdenticon';
import { type PictureSize, pictureSides } from './picture-form.ts';

const style = { backColor: '#f4f5f7ff', padding: 0.1 };

/**
 * Draw the picture of a user who has none, as PNG: always the same for one user, and another for every other. It is
 * made of the id, not of the name, so that a name that is given again brings back nobody's face.
 */
export function drawIdenticon(user_id: string, size: PictureSize): Uint8Array {
  // Hashed here, because the library takes what looks like a hash for one, and ids begin alike.
  return toPng(createHash('sha256').update(user_id).digest('hex'), pictureSides[size], style);
}
