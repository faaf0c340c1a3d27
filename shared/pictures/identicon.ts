import { createHash } from 'node:crypto';
import { convertIndexedToRgb, decode } from 'fast-png';
import { toPng } from 'jdenticon';
import { type PictureForm, pictureSides } from './picture-form.ts';
import { encodeWebp } from './webp/encode-webp.ts';

const style = { backColor: '#f4f5f7ff', padding: 0.1 };

/** The pixels of a PNG with 8 bits a channel, as 32-bit ARGB. */
function pixelsOf(png: Uint8Array): Uint32Array {
  const image = decode(png);
  const channels = image.palette === undefined ? image.channels : (image.palette[0]?.length ?? 3);
  const data = image.palette === undefined ? image.data : convertIndexedToRgb(image);
  return Uint32Array.from({ length: image.width * image.height }, (_, index) => {
    const at = index * channels;
    const alpha = channels === 4 ? (data[at + 3] ?? 0) : 0xff;
    return ((alpha << 24) | ((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0)) >>> 0;
  });
}

/**
 * Draws the picture of a user who has none: always the same for one user, and another for every other. It is made of
 * the id, not of the name, so that a name that is given again brings back nobody's face.
 */
export function drawIdenticon(user_id: string, { size, mediaType }: PictureForm): Uint8Array {
  const side = pictureSides[size];
  // Hashed here, because the library takes what looks like a hash for one, and ids begin alike.
  const png = toPng(createHash('sha256').update(user_id).digest('hex'), side, style);
  return mediaType === 'image/png' ? png : encodeWebp(pixelsOf(png), side);
}
