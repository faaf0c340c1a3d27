import type { Sharp, SharpOptions } from 'sharp';
import { pictureCodec } from '../../../shared/core/pictures/picture-codec.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import {
  type PictureMediaType,
  pictureForms,
  pictureSides,
  sniffPicture,
  type UploadMediaType,
} from './picture-form.ts';
import type { DrawnPicture } from './picture-store.ts';
import { turns } from './turns.ts';

/**
 * Make the stored pictures of an uploaded file: squares around its most salient part, upright, in sRGB, only the
 * first frame. The code encodes them from the pixels alone, so no other data of the file survives.
 *
 * @throws ServiceError `unsupported-media-type` for a file that is not a picture, or not of the `declared` type
 * @throws ServiceError `too-large` for more than 40 megapixels by its header
 * @throws ServiceError `bad-request` for a picture that is empty, damaged, or too thin
 * @throws ServiceError `unavailable` when too many requests are waiting
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
    const sharp = await pictureCodec(readers);
    const drawn: DrawnPicture[] = [];
    for (const form of pictureForms) {
      const side = pictureSides[form.size];
      const image = sharp(data, { raw }).resize(side, side);
      drawn.push({ ...form, bytes: await encode(image, form.mediaType) });
    }
    return drawn;
  });
}

/** Error for a body that cannot become a picture. */
function unfitPicture(message: string, cause?: unknown): ServiceError {
  return new ServiceError('bad-request', `body: ${message}`, {
    errors: [{ in: 'body', name: 'body', message }],
    cause,
  });
}

/** Error for a body that is not a picture of an accepted type, or does not match its Content-Type. */
function otherMediaType(declared: string | undefined, found: UploadMediaType | undefined): ServiceError {
  return new ServiceError(
    'unsupported-media-type',
    found === undefined
      ? 'The body is neither a PNG, JPEG, WebP nor GIF picture.'
      : `Content-Type says ${declared}, but by its bytes the body is ${found}.`,
  );
}

/**
 * Read the size that a picture declares at a fixed offset: the header of a PNG, or the logical screen of a GIF. If
 * the codec rejects a GIF's screen size, it returns the size of the frame instead. Return undefined for other
 * formats, and for truncated files.
 */
function announcedSize(mediaType: UploadMediaType, bytes: Uint8Array): PixelSize | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (mediaType === 'image/png' && view.length >= 24 && view.toString('latin1', 12, 16) === 'IHDR') {
    return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
  }
  if (mediaType === 'image/gif' && view.length >= 10) {
    return { width: view.readUInt16LE(6), height: view.readUInt16LE(8) };
  }
  return undefined;
}

interface PixelSize {
  width: number;
  height: number;
}

/** Refuse a picture that is too large or too thin by its header, before any pixel is decoded. */
function checkSize({ width, height }: PixelSize): void {
  if (width * height > pictureMaxPixels) throw tooManyPixels(width, height, pictureMaxPixels);
  if (Math.max(width, height) > longestRatio * Math.min(width, height)) {
    throw unfitPicture(
      `is a picture of ${width} × ${height} pixels; the longer side may have at most ${longestRatio} times the shorter one`,
    );
  }
}

/** Maximum number of pixels of a picture. */
const pictureMaxPixels = 40_000_000;

/** Error for a picture with too many pixels. */
function tooManyPixels(width: number, height: number, most: number): ServiceError {
  return new ServiceError(
    'too-large',
    `The picture has ${width} × ${height} pixels; at most ${most / 1_000_000} megapixels are allowed.`,
  );
}

/**
 * Maximum ratio of the sides. A picture is enlarged until its short side fills the square, so a thin line would
 * grow without limit.
 */
const longestRatio = 20;

/**
 * Maximum number of waiting requests. The worst allowed picture, 40 megapixels of interlaced PNG with 16 bits per
 * channel, takes 3.5 s and 500 MB. This number of them fits in the 29 s of a request. A photograph takes 0.2 s.
 */
const takeTurn = turns(8);

async function decodeSquare(bytes: Uint8Array): Promise<Square> {
  const sharp = await pictureCodec(readers);
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

interface Square {
  data: Buffer;
  raw: { width: number; height: number; channels: 1 | 2 | 3 | 4 };
}

/** Loaders of the accepted media types. */
const readers = [
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadNsgifBuffer',
] as const;

/** Options for untrusted bytes: first frame only, a pixel limit, and no damaged pixel data. */
const untrusted = {
  limitInputPixels: pictureMaxPixels,
  failOn: 'error',
  animated: false,
  autoOrient: true,
} as const satisfies SharpOptions;

/** Maximum seconds for decoding; a request has 29 in total. */
const decodeSeconds = 10;

const decodeLimit = { seconds: decodeSeconds };

function encode(image: Sharp, mediaType: PictureMediaType): Promise<Buffer> {
  const encoded =
    mediaType === 'image/webp'
      ? image.webp({ quality: 82 })
      : image.png({ compressionLevel: 9, adaptiveFiltering: true });
  return encoded.toBuffer();
}
