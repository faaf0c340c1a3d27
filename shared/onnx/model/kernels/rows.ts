import type { ByteSource } from '../tensor/byte-source.ts';
import { kernels, maxValues, place, roundedUp } from './kernels.ts';

/** Columns of a matrix of float32 values. */
export interface Columns {
  /** The first, and how many, of `channels` that the matrix has. */
  column: number;
  columns: number;
  channels: number;
  rows: number;
}

/** Rows on their way to where each is filled up. */
const staged = new Uint8Array(4 * maxValues);

/**
 * Brings columns of a matrix to `place.values`, several rows at a time. Each row is filled up with zeros to a multiple of
 * four values. `work` is told where the values end, and which rows they are.
 */
export function eachBlock(
  source: ByteSource,
  { column, columns, channels, rows }: Columns,
  work: (end: number, row: number, count: number) => void,
): void {
  const { bytes: room } = kernels();
  const [length, width] = [4 * columns, 4 * roundedUp(columns, 4)];
  const most = Math.max(1, Math.floor((4 * maxValues) / width));
  if (width > length) room.fill(0, place.values, place.values + width * Math.min(most, rows));
  for (let row = 0; row < rows; row += most) {
    const count = Math.min(most, rows - row);
    const end = place.values + count * width;
    if (width === 4 * channels) source.read(room.subarray(place.values, end), row * width);
    else if (columns === channels) {
      // A row may be short, and each reading may be one of a file.
      source.read(staged.subarray(0, count * length), row * length);
      for (let at = 0; at < count; at += 1)
        room.set(staged.subarray(at * length, (at + 1) * length), place.values + at * width);
    } else {
      for (let at = 0; at < count; at += 1) {
        const to = place.values + at * width;
        source.read(room.subarray(to, to + length), 4 * ((row + at) * channels + column));
      }
    }
    work(end, row, count);
  }
}
