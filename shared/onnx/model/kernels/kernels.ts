import type { ByteSource } from '../tensor/external-data.ts';
import { wasm } from './wasm.ts';

/** Exports of kernels.wat. Addresses and widths are in bytes. */
interface Exports {
  memory: WebAssembly.Memory;
  /** Count the float32 values that are zero or minus zero. */
  zeros(at: number, end: number): number;
  /** Count the bytes equal to `byte`. */
  matches(at: number, end: number, byte: number): number;
  /** Count the halves that are zero or minus zero, of at most {@link maxValues} float32 values' bytes. */
  zeroHalves(at: number, end: number): number;
  /** Count the halves of bytes equal to `nibble`. */
  matchingNibbles(at: number, end: number, nibble: number): number;
  /** Extend the largest and the smallest magnitude at `range` by the finite float32 values other than zero. */
  magnitudes(at: number, end: number, range: number): void;
  /**
   * Round float32 values to halves in their place, and add ‖error‖² and ‖value‖² to the sums, in two parts each.
   * Return the largest magnitude. Above 65504, and where a sum is not finite, the halves are not those of the values.
   */
  roundToHalves(at: number, end: number, sums: number): number;
  /** Extend the range at `range` by adjacent values. Return NaN if one is not finite, else 0. */
  widenByRun(at: number, end: number, range: number): number;
  /** Extend the range of each column by rows. Return NaN if a value is not finite, else 0. */
  widenByRows(at: number, end: number, width: number, least: number, most: number): number;
  /** Quantize rows to bytes, with a scale and zero point per column, and add to the sums. */
  quantizeRows(
    at: number,
    end: number,
    width: number,
    to: number,
    scales: number,
    zeroPoints: number,
    least: number,
    most: number,
    sums: number,
  ): void;
  /** Quantize blocks of 32 values to levels of 4 bits (`most` 15) or 8 (255). Add ‖error‖² and ‖value‖² in two parts each. */
  quantizeBlocks(
    at: number,
    end: number,
    most: number,
    symmetric: number,
    to: number,
    scales: number,
    zeroPoints: number,
    sums: number,
  ): void;
}

/** The loops of kernels.wat and their memory. Only one call may use the memory at a time. */
interface Kernels extends Exports {
  bytes: Uint8Array;
  floats: Float32Array;
  /** Sums of float64 at `place.sums`. */
  sums: Float64Array;
}

let made: Kernels | undefined;

/** Return the kernels. Compiles them at the first call. */
export function kernels(): Kernels {
  made ??= make();
  return made;
}

/** Maximum number of values of a row, and of one block. A block fits into the CPU cache. */
export const maxColumns = 2 ** 14;

export const maxValues = 2 ** 16;

/** Addresses in bytes: sums, two rows of columns, the values, and the resulting bytes. */
export const place = {
  sums: 0,
  first: 64,
  second: 64 + 4 * maxColumns,
  values: 64 + 8 * maxColumns,
  results: 64 + 8 * maxColumns + 4 * maxValues,
} as const;

function make(): Kernels {
  const { exports } = new WebAssembly.Instance<Exports>(new WebAssembly.Module(Buffer.from(wasm, 'base64')));
  const { buffer } = exports.memory;
  return {
    ...exports,
    bytes: new Uint8Array(buffer),
    floats: new Float32Array(buffer),
    sums: new Float64Array(buffer, place.sums, 4),
  };
}

/** Round up to a multiple of `step`, a power of two. */
export const roundedUp = (count: number, step: number): number => (count + step - 1) & -step;

const partBytes = 4 * maxValues;

/** Part of a source at `place.values`. */
interface LoadedPart {
  /** Its offset in the source. */
  from: number;
  /** Addresses of its end, and of the next multiple of sixteen. */
  end: number;
  padded: number;
}

/** Load bytes to `place.values`, one part at a time, and fill the room behind a part with bytes that do not count. */
export function* partsOf({ byteLength, read }: ByteSource, filler = 0): Generator<LoadedPart> {
  const { bytes: room } = kernels();
  for (let from = 0; from < byteLength; from += partBytes) {
    const end = place.values + Math.min(partBytes, byteLength - from);
    const padded = roundedUp(end, 16);
    read(room.subarray(place.values, end), from);
    room.fill(filler, end, padded);
    yield { from, end, padded };
  }
}

/** Columns of a matrix of float32 values. */
interface Columns {
  /** The first column and the number of columns, out of the matrix's `channels`. */
  column: number;
  columns: number;
  channels: number;
  rows: number;
}

/** Buffer for rows before padding. */
const staged = new Uint8Array(4 * maxValues);

/**
 * Load columns of a matrix to `place.values`, several rows at a time. Pad each row with zeros to a multiple of
 * four values. `work` receives the end address and the rows.
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
      // Rows may be short, and each read may access a file, so read several rows at once.
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
