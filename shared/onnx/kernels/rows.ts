import { kernels, place, roundedUp, valuesMost } from './kernels.ts';

/** Columns of a matrix of float32 values. */
export interface Columns {
  /** The first, and how many, of `channels` that the matrix has. */
  column: number;
  columns: number;
  channels: number;
  rows: number;
}

/**
 * Brings columns of a matrix to `place.values`, several rows at a time. Each row is filled up with zeros to a multiple of
 * four values. `work` is told where the values end, and which rows they are.
 */
export function eachBlock(
  bytes: Uint8Array,
  { column, columns, channels, rows }: Columns,
  work: (end: number, row: number, count: number) => void,
): void {
  const { bytes: room } = kernels();
  const width = roundedUp(columns, 4);
  const most = Math.max(1, Math.floor(valuesMost / width));
  const isWhole = width === channels;
  if (width > columns) room.fill(0, place.values, place.values + 4 * width * Math.min(most, rows));
  for (let row = 0; row < rows; row += most) {
    const count = Math.min(most, rows - row);
    if (isWhole) room.set(bytes.subarray(4 * row * width, 4 * (row + count) * width), place.values);
    else {
      for (let at = 0; at < count; at += 1) {
        const from = 4 * ((row + at) * channels + column);
        room.set(bytes.subarray(from, from + 4 * columns), place.values + 4 * at * width);
      }
    }
    work(place.values + 4 * count * width, row, count);
  }
}
