import type { SharpOptions } from 'sharp';

/** Most pixels of a picture that is decoded. */
export const pictureMaxPixels = 40_000_000;

/** Seconds that decoding may take; a request has 29 in all. */
const decodeSeconds = 10;

/** The readers of the media types that are taken. All others stay switched off: no SVG, no PDF, no TIFF. */
const readers = [
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadNsgifBuffer',
];

async function load() {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: readers });
  // One thread and nothing kept: one picture at a time is all the memory that this takes.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

let loaded: ReturnType<typeof load> | undefined;

/** The codec, a native library of some 20 MB: loaded when the first picture comes in, and not before. */
export function pictureCodec(): ReturnType<typeof load> {
  loaded ??= load();
  return loaded;
}

/** How untrusted bytes are opened: first frame only, at most so many pixels, no damaged pixel data. */
export const untrusted = {
  limitInputPixels: pictureMaxPixels,
  failOn: 'error',
  animated: false,
  autoOrient: true,
} as const satisfies SharpOptions;

export const decodeLimit = { seconds: decodeSeconds };
