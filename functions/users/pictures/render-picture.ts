import type { Sharp, SharpOptions } from 'sharp';
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

/** An error for a body that cannot be made into a picture. */
function unfitPicture(message: string, cause?: unknown): ServiceError {
  return new ServiceError('bad-request', `body: ${message}`, {
    errors: [{ in: 'body', name: 'body', message }],
    cause,
  });
}

/** An error for a body that is no picture of an accepted kind, or not of its Content-Type's. */
function otherMediaType(declared: string | undefined, found: UploadMediaType | undefined): ServiceError {
  return new ServiceError(
    'unsupported-media-type',
    found === undefined
      ? 'The body is neither a PNG, JPEG, WebP nor GIF picture.'
      : `Content-Type says ${declared}, but by its bytes the body is ${found}.`,
  );
}

/**
 * The size that a picture declares at a fixed offset: the header of a PNG, the screen of a GIF. For a GIF the codec
 * returns the size of the frame instead when it rejects the screen's. Undefined for other formats, and for files that
 * end before.
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

/** Refuses what is too large or too thin by what its header says, before any pixel is decoded. */
function checkSize({ width, height }: PixelSize): void {
  if (width * height > pictureMaxPixels) throw tooManyPixels(width, height, pictureMaxPixels);
  if (Math.max(width, height) > longestRatio * Math.min(width, height)) {
    throw unfitPicture(
      `is a picture of ${width} × ${height} pixels; the longer side may have at most ${longestRatio} times the shorter one`,
    );
  }
}

/** Most pixels of a picture that is decoded. */
const pictureMaxPixels = 40_000_000;

/** An error for more pixels than are decoded. */
function tooManyPixels(width: number, height: number, most: number): ServiceError {
  return new ServiceError(
    'too-large',
    `The picture has ${width} × ${height} pixels; at most ${most / 1_000_000} megapixels are allowed.`,
  );
}

/** A picture is enlarged until its short side fills the square, so a thin line would grow beyond all bounds. */
const longestRatio = 20;

/**
 * The worst picture within the limits, 40 megapixels of interlaced PNG with 16 bits a channel, takes 3.5 s and 500 MB;
 * so many of those are served within the 29 s of a request. A photograph takes a fifth of a second.
 */
const takeTurn = turns(8);

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

interface Square {
  data: Buffer;
  raw: { width: number; height: number; channels: 1 | 2 | 3 | 4 };
}

/** The codec, a native library of some 20 MB: loaded when the first picture comes in, and not before. */
function pictureCodec(): ReturnType<typeof load> {
  loaded ??= load();
  return loaded;
}

async function load() {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: readers });
  // One thread and nothing kept: one picture at a time is all the memory that this takes.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

/** The readers of the media types that are taken. All others stay switched off: no SVG, no PDF, no TIFF. */
const readers = [
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadNsgifBuffer',
];

let loaded: ReturnType<typeof load> | undefined;

/** How untrusted bytes are opened: first frame only, at most so many pixels, no damaged pixel data. */
const untrusted = {
  limitInputPixels: pictureMaxPixels,
  failOn: 'error',
  animated: false,
  autoOrient: true,
} as const satisfies SharpOptions;

/** Seconds that decoding may take; a request has 29 in all. */
const decodeSeconds = 10;

const decodeLimit = { seconds: decodeSeconds };

function encode(image: Sharp, mediaType: PictureMediaType): Promise<Buffer> {
  const encoded =
    mediaType === 'image/webp'
      ? image.webp({ quality: 82 })
      : image.png({ compressionLevel: 9, adaptiveFiltering: true });
  return encoded.toBuffer();
}
