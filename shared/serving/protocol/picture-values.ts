/** A picture as RGBA, 8 bits each. */
export interface Picture {
  width: number;
  height: number;
  data: Uint8Array | Uint8ClampedArray;
}

/** An input as the Open Inference Protocol describes it; -1 is a free dimension. */
interface Input {
  datatype: string;
  shape: readonly number[];
}

/** How an input takes a picture. */
interface Layout {
  channels: number;
  height: number;
  width: number;
  /** Shape of one picture in this input. */
  shapeOf(height: number, width: number): number[];
  /** Whether the channels of a pixel lie next to each other. */
  isInterleaved: boolean;
}

/**
 * Read a picture as the values of an input: scaled to its size, gray for one channel, on white where it is transparent.
 * Floats go from 0 to 1, bytes from 0 to 255.
 * @returns undefined if the input takes no pictures
 */
export function pictureValues(
  picture: Picture,
  input: Input,
): { shape: number[]; data: number[] } | undefined {
  const layout = layoutOf(input);
  if (layout === undefined) return undefined;
  const height = layout.height < 0 ? picture.height : layout.height;
  const width = layout.width < 0 ? picture.width : layout.width;
  const pixels = scaled(picture, width, height);
  const { channels, isInterleaved } = layout;
  const area = width * height;
  const isBytes = input.datatype === 'UINT8';
  const data = Array.from({ length: channels * area }, (_, at) => {
    const pixel = isInterleaved ? Math.floor(at / channels) : at % area;
    const channel = isInterleaved ? at % channels : Math.floor(at / area);
    const [red = 0, green = 0, blue = 0] = pixels.subarray(3 * pixel, 3 * pixel + 3);
    const value = channels === 1 ? 0.299 * red + 0.587 * green + 0.114 * blue : [red, green, blue][channel];
    return isBytes ? Math.round(value ?? 0) : Number(((value ?? 0) / 255).toFixed(4));
  });
  return { shape: layout.shapeOf(height, width), data };
}

/** Whether an input takes pictures. */
export const takesPictures = (input: Input): boolean => layoutOf(input) !== undefined;

const isColour = (channels: number | undefined): channels is 1 | 3 => channels === 1 || channels === 3;

/** [n, channels, height, width], [n, height, width, channels], [n, height, width], or [n, side × side]. */
function layoutOf({ datatype, shape }: Input): Layout | undefined {
  if (!/^(?:FP\d+|UINT8)$/.test(datatype)) return undefined;
  const [, one, two, three] = shape;
  if (shape.length === 4 && one !== undefined && two !== undefined && three !== undefined) {
    if (isColour(one)) {
      const shapeOf = (height: number, width: number) => [1, one, height, width];
      return { channels: one, height: two, width: three, shapeOf, isInterleaved: false };
    }
    if (!isColour(three)) return undefined;
    const shapeOf = (height: number, width: number) => [1, height, width, three];
    return { channels: three, height: one, width: two, shapeOf, isInterleaved: true };
  }
  if (shape.length === 3 && one !== undefined && two !== undefined && one > 1 && two > 1) {
    const shapeOf = (height: number, width: number) => [1, height, width];
    return { channels: 1, height: one, width: two, shapeOf, isInterleaved: false };
  }
  const side = Math.sqrt(one ?? 0);
  if (shape.length !== 2 || !Number.isInteger(side) || side < minSide) return undefined;
  return { channels: 1, height: side, width: side, shapeOf: () => [1, side * side], isInterleaved: false };
}

/** A row of fewer numbers is hardly a picture. */
const minSide = 8;

/** Scale a picture to RGB on white. Each pixel is the mean of the area that it covers. */
function scaled({ width: fromWidth, height: fromHeight, data }: Picture, width: number, height: number) {
  const pixels = new Float32Array(3 * width * height);
  for (let y = 0; y < height; y += 1) {
    const rows = covered(y, height, fromHeight);
    for (let x = 0; x < width; x += 1) {
      const columns = covered(x, width, fromWidth);
      let count = 0;
      const sums = [0, 0, 0];
      for (let row = rows.from; row < rows.to; row += 1) {
        for (let column = columns.from; column < columns.to; column += 1) {
          const at = 4 * (row * fromWidth + column);
          const opacity = (data[at + 3] ?? 255) / 255;
          for (let channel = 0; channel < 3; channel += 1) {
            sums[channel] = (sums[channel] ?? 0) + (data[at + channel] ?? 0) * opacity + 255 * (1 - opacity);
          }
          count += 1;
        }
      }
      for (let channel = 0; channel < 3; channel += 1)
        pixels[3 * (y * width + x) + channel] = (sums[channel] ?? 0) / count;
    }
  }
  return pixels;
}

/** Return the pixels of a source that one of a target covers, at least one. */
function covered(at: number, target: number, source: number): { from: number; to: number } {
  const from = Math.floor((at * source) / target);
  return { from, to: Math.max(from + 1, Math.floor(((at + 1) * source) / target)) };
}
