import type { ImageSettings } from '../../data/models/image-settings.ts';
import { maxChosenPixels } from '../../data/models/serving-memory.ts';
import { maxImagePixels } from './decode-image.ts';
import { pixelsOnTheWay, type RgbImage, resizeImage } from './resize-image.ts';

/** The values of one picture, in the order channel, row, column. */
export interface ImageValues {
  shape: readonly [channels: 3, height: number, width: number];
  values: Float32Array;
}

type Steps = Pick<ImageSettings, 'resize' | 'filter' | 'crop' | 'scale' | 'offset' | 'is_bgr'>;

/**
 * Turn a picture into the values of an input, as the image processors of `transformers` do: resize, take the middle, scale, and
 * normalize. @throws Error if a step would make it too large
 */
export function imageValues(
  image: RgbImage,
  { resize, filter, crop, scale, offset, is_bgr }: Steps,
): ImageValues {
  const { height, width } = resizedSides(image, resize);
  if (pixelsOnTheWay(image, width, height) > maxImagePixels)
    throw new Error(
      `has ${image.width} x ${image.height} pixels, too long a side: resized to ${width} x ${height} it would take more than ${maxImagePixels / 1e6} million`,
    );
  const isChosen = crop === null && (resize === null || 'shortest' in resize);
  if (isChosen && width * height > maxChosenPixels)
    throw new Error(
      `becomes ${width} x ${height} pixels for this model, which has no size of its own; at most ${maxChosenPixels} pixels are allowed`,
    );
  const resized = resizeImage(image, width, height, filter);
  const shown = crop ?? resized;
  const area = shown.height * shown.width;
  const values = new Float32Array(3 * area);
  const top = middle(resized.height, shown.height);
  const left = middle(resized.width, shown.width);
  for (let channel = 0; channel < 3; channel += 1) {
    const table = Float32Array.from(
      { length: 256 },
      (_, value) => value * (scale[channel] ?? 1) + (offset[channel] ?? 0),
    );
    const plane = (is_bgr ? 2 - channel : channel) * area;
    for (let y = 0; y < shown.height; y += 1) {
      const row = y + top;
      const isInside = row >= 0 && row < resized.height;
      for (let x = 0; x < shown.width; x += 1) {
        const column = x + left;
        const isPixel = isInside && column >= 0 && column < resized.width;
        const value = isPixel ? (resized.data[3 * (row * resized.width + column) + channel] ?? 0) : 0;
        values[plane + y * shown.width + x] = table[value] ?? 0;
      }
    }
  }
  return { shape: [3, shown.height, shown.width], values };
}

function resizedSides(
  { width, height }: RgbImage,
  resize: Steps['resize'],
): { height: number; width: number } {
  if (resize === null) return { height, width };
  if (!('shortest' in resize)) return resize;
  const { shortest } = resize;
  const long = Math.trunc((shortest * Math.max(width, height)) / Math.min(width, height));
  return width <= height ? { height: long, width: shortest } : { height: shortest, width: long };
}

/** Where the middle begins; below 0, what is added before a side that is too short. */
const middle = (side: number, shown: number): number =>
  side >= shown ? Math.floor((side - shown) / 2) : -Math.floor((shown - side) / 2);
