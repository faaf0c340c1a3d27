import { pictureCodec } from '../../core/pictures/picture-codec.ts';
import type { RgbImage } from './resize-image.ts';

/** Pixels of a picture, in its file and on the way to the model. */
export const maxImagePixels = 24_000_000;

/** Pixels of a side. Each pixel of a side has weights in a resize, and libvips takes 5 s for rows of one pixel. */
const maxImageSide = 16_384;

/**
 * Decode a PNG or JPEG file as `transformers` loads a picture (`PIL.Image.convert('RGB')`, upright by its EXIF data): transparency
 * and colour profiles are left out, and the values are those of Pillow to the bit.
 * @throws Error that says what is wrong with the picture
 */
export async function decodeImage(bytes: Uint8Array): Promise<RgbImage> {
  const sharp = await pictureCodec(['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer']);
  const options = { limitInputPixels: false, failOn: 'error', ignoreIcc: true, autoOrient: true } as const;
  const { width, height, space, depth, channels, format, isProgressive, orientation } = await sharp(
    bytes,
    options,
  )
    .metadata()
    .catch((cause: unknown) => {
      throw new Error('is damaged or not complete', { cause });
    });
  if (width * height > maxImagePixels)
    throw new Error(`has ${width} x ${height} pixels; at most ${maxImagePixels / 1e6} million are allowed`);
  if (Math.max(width, height) > maxImageSide)
    throw new Error(`has ${width} x ${height} pixels; at most ${maxImageSide} a side are allowed`);
  if (!spaces.includes(space))
    throw new Error(
      `is of the kind ${space} with ${depth === 'ushort' ? 16 : 8} bits: save it as RGB, or as gray of 8 bits`,
    );
  const isWhole = format === 'png' && (isProgressive || (orientation ?? 1) > 1);
  const held = width * height * channels * (depth === 'ushort' ? 2 : 1);
  if (isWhole && held > maxHeldBytes)
    throw new Error(
      `is ${isProgressive ? 'interlaced' : 'turned by its EXIF data'} and has ${Math.ceil(held / 1e6)} MB of pixels, which is decoded as a whole; at most ${maxHeldBytes / 1e6} MB are allowed: save it without that, or with 8 bits`,
    );
  const scans = scansOf(bytes);
  if (scans > maxScans || scans * width * height > maxScannedPixels)
    throw new Error(`has ${scans} scans of ${width} x ${height} pixels: save it again, with fewer scans`);
  try {
    const { data, info } = await sharp(bytes, options)
      .timeout({ seconds: decodeSeconds })
      .toColourspace('srgb')
      .removeAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return { width: info.width, height: info.height, data };
  } catch (cause) {
    const isLate = cause instanceof Error && cause.message.startsWith('timeout');
    throw new Error(
      isLate ? `takes longer than ${decodeSeconds} s to decode` : 'is damaged or not complete',
      { cause },
    );
  }
}

/** What Pillow reads to the same values. It cuts gray of 16 bits to 8, and mixes colours from inks by another rule. */
const spaces = ['srgb', 'b-w', 'rgb16'];

const decodeSeconds = 5;

/** Bytes of a PNG that cannot be decoded row by row: those of the largest picture with 8 bits. */
const maxHeldBytes = 3 * maxImagePixels;

/** A JPEG of many scans is decoded as often, before anything can stop it. An encoder makes some ten. */
const maxScannedPixels = 16 * maxImagePixels;
const maxScans = 100;

/** Count the scans of a JPEG by their marker, which image data cannot hold. */
function scansOf(bytes: Uint8Array): number {
  if (bytes[0] !== 0xff) return 1;
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let scans = 0;
  for (let at = file.indexOf(scanMarker); at !== -1; at = file.indexOf(scanMarker, at + 2)) scans += 1;
  return scans;
}

const scanMarker = Buffer.from([0xff, 0xda]);
