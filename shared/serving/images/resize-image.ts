import type { ImageSettings } from '../../data/models/image-settings.ts';

/** A picture: red, green and blue of each pixel, 8 bits each. */
export interface RgbImage {
  width: number;
  height: number;
  data: Uint8Array;
}

type Filter = ImageSettings['filter'];

/**
 * Resize a picture as Pillow does (`Image.resize` until version 12) and torchvision with `antialias`, with whose pixels models are
 * trained: the width first, then the height; a filter that widens with the factor of a reduction; weights in fixed point; each
 * pass rounds to 8 bits. A value differs from torchvision's, whose weights have 16 bits, by at most 2 of 255. libvips differs by up to 150.
 */
export function resizeImage(image: RgbImage, width: number, height: number, filter: Filter): RgbImage {
  if (filter === 'nearest') return nearest(image, width, height);
  const wide =
    width === image.width ? image : acrossColumns(image, width, weightsOf(image.width, width, filter));
  return height === wide.height ? wide : acrossRows(wide, height, weightsOf(wide.height, height, filter));
}

/** Pixels that hold a picture between both passes of a resize, or after them. */
export const pixelsOnTheWay = (
  image: Pick<RgbImage, 'width' | 'height'>,
  width: number,
  height: number,
): number => width * Math.max(image.height, height);

function nearest(
  { width: fromWidth, height: fromHeight, data }: RgbImage,
  width: number,
  height: number,
): RgbImage {
  const resized = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y += 1) {
    const row = nearestOf(y, fromHeight, height) * fromWidth;
    for (let x = 0; x < width; x += 1) {
      const from = 3 * (row + nearestOf(x, fromWidth, width));
      const to = 3 * (y * width + x);
      for (let channel = 0; channel < 3; channel += 1) resized[to + channel] = data[from + channel] ?? 0;
    }
  }
  return { width, height, data: resized };
}

/** The pixel in the middle of one of the target, in the precision of torchvision (`NEAREST_EXACT`). */
const nearestOf = (index: number, source: number, target: number): number =>
  Math.min(source - 1, Math.floor(Math.fround((index + 0.5) * Math.fround(source / target))));

/** Weights of the source for each pixel of the target, one after the other. */
interface Weights {
  /** First pixel of the source, and number of pixels. */
  first: Int32Array;
  count: Int32Array;
  /** Position of the first weight. */
  at: Int32Array;
  values: Int32Array;
}

/** Bits after the point: 32, less 8 of a pixel and 2 for filters whose weights are above 1. */
const fractionBits = 22;
const half = 1 << (fractionBits - 1);

function weightsOf(source: number, target: number, filter: Exclude<Filter, 'nearest'>): Weights {
  const { reach, weight } = filters[filter];
  const scale = source / target;
  const stretch = Math.max(1, scale);
  const first = new Int32Array(target);
  const count = new Int32Array(target);
  const at = new Int32Array(target);
  const values: number[] = [];
  for (let index = 0; index < target; index += 1) {
    const centre = (index + 0.5) * scale;
    const from = Math.max(0, Math.trunc(centre - reach * stretch + 0.5));
    const to = Math.min(source, Math.trunc(centre + reach * stretch + 0.5));
    const shares = Array.from({ length: to - from }, (_, pixel) =>
      weight((from + pixel - centre + 0.5) / stretch),
    );
    const sum = shares.reduce((total, value) => total + value, 0);
    first[index] = from;
    count[index] = shares.length;
    at[index] = values.length;
    for (const value of shares) {
      const part = (sum === 0 ? value : value / sum) * 2 ** fractionBits;
      values.push(Math.trunc(part < 0 ? part - 0.5 : part + 0.5));
    }
  }
  return { first, count, at, values: Int32Array.from(values) };
}

function acrossColumns(
  { width: fromWidth, height, data }: RgbImage,
  width: number,
  weights: Weights,
): RgbImage {
  const resized = new Uint8ClampedArray(3 * width * height);
  const { first, count, at, values } = weights;
  for (let y = 0, to = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, to += 3) {
      let [red, green, blue] = [half, half, half];
      let from = 3 * (y * fromWidth + (first[x] ?? 0));
      const start = at[x] ?? 0;
      const end = start + (count[x] ?? 0);
      for (let index = start; index < end; index += 1, from += 3) {
        const weight = values[index] ?? 0;
        red += weight * (data[from] ?? 0);
        green += weight * (data[from + 1] ?? 0);
        blue += weight * (data[from + 2] ?? 0);
      }
      resized[to] = red >> fractionBits;
      resized[to + 1] = green >> fractionBits;
      resized[to + 2] = blue >> fractionBits;
    }
  }
  return { width, height, data: bytesOf(resized) };
}

function acrossRows({ width, data }: RgbImage, height: number, weights: Weights): RgbImage {
  const row = 3 * width;
  const resized = new Uint8ClampedArray(row * height);
  const sums = new Int32Array(row);
  const { first, count, at, values } = weights;
  for (let y = 0; y < height; y += 1) {
    sums.fill(half);
    for (let index = 0; index < (count[y] ?? 0); index += 1) {
      const weight = values[(at[y] ?? 0) + index] ?? 0;
      const from = ((first[y] ?? 0) + index) * row;
      for (let column = 0; column < row; column += 1)
        sums[column] = (sums[column] ?? 0) + weight * (data[from + column] ?? 0);
    }
    for (let column = 0; column < row; column += 1)
      resized[y * row + column] = (sums[column] ?? 0) >> fractionBits;
  }
  return { width, height, data: bytesOf(resized) };
}

const bytesOf = ({ buffer }: Uint8ClampedArray<ArrayBuffer>): Uint8Array => new Uint8Array(buffer);

interface Kernel {
  /** Pixels of the target on each side of the middle that have a weight. */
  reach: number;
  weight(distance: number): number;
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** Keys' cubic convolution, with the parameter that Pillow takes. */
const cubic = -0.5;

const filters: Readonly<Record<Exclude<Filter, 'nearest'>, Kernel>> = {
  box: { reach: 0.5, weight: (x) => (x > -0.5 && x <= 0.5 ? 1 : 0) },
  bilinear: { reach: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
  hamming: {
    reach: 1,
    weight: (x) => (Math.abs(x) >= 1 ? 0 : sinc(x) * (0.54 + 0.46 * Math.cos(Math.PI * x))),
  },
  bicubic: {
    reach: 2,
    weight(distance) {
      const x = Math.abs(distance);
      if (x < 1) return ((cubic + 2) * x - (cubic + 3)) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * cubic : 0;
    },
  },
  lanczos: { reach: 3, weight: (x) => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0) },
};
