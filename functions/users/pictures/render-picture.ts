import type { Sharp } from 'sharp';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { announcedSize, type PixelSize } from './announced-size.ts';
import { decodeLimit, pictureCodec, pictureMaxPixels, untrusted } from './codec.ts';
import { type PictureMediaType, pictureForms, pictureSides } from './picture-form.ts';
import { otherMediaType, tooManyPixels, unfitPicture } from './picture-problems.ts';
import type { DrawnPicture } from './picture-store.ts';
import { sniffPicture } from './sniff-picture.ts';
import { turns } from './turns.ts';

/** A picture is enlarged until its short side fills the square, so a thin line would grow beyond all bounds. */
const longestRatio = 20;

/**
 * The worst picture within the limits, 40 megapixels of interlaced PNG with 16 bits a channel, takes 3.5 s and 500 MB;
 * so many of those are served within the 29 s of a request. A photograph takes a fifth of a second.
 */
const takeTurn = turns(8);

interface Square {
  data: Buffer;
  raw: { width: number; height: number; channels: 1 | 2 | 3 | 4 };
}

/** Refuses what is too large or too thin by what its header says, before any pixel is decoded. */
function checkSize({ width, height }: PixelSize): void {
  if (width * height > pictureMaxPixels) throw tooManyPixels(width, height, pictureMaxPixels);
  if (Math.max(width, height) > longestRatio * Math.min(width, height)) {
    throw unfitPicture(
      `is a picture of ${width} × ${height} pixels; the longer side may have at most ${longestRatio} times the shorter one`,
    );
  }
}

async function decodeSquare(bytes: Uint8Array): Promise<Square> {
  const sharp = await pictureCodec();
  const side = pictureSides.profile_picture;
  try {
    checkSize(await sharp(bytes, { ...untrusted, limitInputPixels: false }).metadata());
    const { data, info } = await sharp(bytes, untrusted)
      .timeout(decodeLimit)
      .toColourspace('srgb')
      .resize(side, side, { fit: 'cover', position: sharp.strategy.attention })
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return { data, raw: { width: info.width, height: info.height, channels: info.channels } };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const late = error instanceof Error && error.message.startsWith('timeout');
    throw unfitPicture(
      late ? `takes longer than ${decodeLimit.seconds} s to decode` : 'is damaged or not complete',
      error,
    );
  }
}

function encode(image: Sharp, mediaType: PictureMediaType): Promise<Buffer> {
  const encoded =
    mediaType === 'image/webp'
      ? image.webp({ quality: 82 })
      : image.png({ compressionLevel: 9, adaptiveFiltering: true });
  return encoded.toBuffer();
}

/**
 * Make the stored pictures of an uploaded file: squares around its most salient part, upright, in sRGB, the first
 * frame alone, encoded anew from nothing but the pixels, so that nothing else of the file survives.
 *
 * @throws ServiceError `unsupported-media-type` for what is no picture, or another one than `declared`, where that says any
 * @throws ServiceError `too-large` for more than 40 megapixels by its header
 * @throws ServiceError `bad-request` for one that is empty, damaged, or too thin
 * @throws ServiceError `unavailable` when too many are waiting
 */
export async function renderPicture(bytes: Uint8Array, declared?: string): Promise<DrawnPicture[]> {
  if (bytes.length === 0) throw unfitPicture('is empty; send the picture as the body');
  const found = sniffPicture(bytes);
  if (found === undefined || (declared !== undefined && found !== declared))
    throw otherMediaType(declared, found);
  const announced = announcedSize(found, bytes);
  if (announced !== undefined) checkSize(announced);
  return takeTurn(async () => {
    const { data, raw } = await decodeSquare(bytes);
    const sharp = await pictureCodec();
    const drawn: DrawnPicture[] = [];
    for (const form of pictureForms) {
      const side = pictureSides[form.size];
      const image = sharp(data, { raw }).resize(side, side);
      drawn.push({ ...form, bytes: await encode(image, form.mediaType) });
    }
    return drawn;
  });
}
