import { wasm } from './wasm.ts';

/** What kernels.wat exports. Addresses and widths are in bytes. */
interface Exports {
  memory: WebAssembly.Memory;
  /** How many float32 values are zero or minus zero. */
  zeros(at: number, end: number): number;
  /** How many bytes are `byte`. */
  matches(at: number, end: number, byte: number): number;
  /** Widens the range at `range` by neighbours; NaN where one of them is not finite, else 0. */
  widenByRun(at: number, end: number, range: number): number;
  /** Widens the range of each column by rows; NaN where a value is not finite, else 0. */
  widenByRows(at: number, end: number, width: number, least: number, most: number): number;
  /** Quantizes rows to bytes, with a scale and a zero point for each column, and adds to the sums. */
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
}

/** Most values of a row, and most values at once: what is worked on fits into a processor's own memory. */
export const maxColumns = 2 ** 14;
export const maxValues = 2 ** 16;

/** Where things lie, in bytes: sums, two rows of columns, the values, and the bytes that come of them. */
export const place = {
  sums: 0,
  first: 64,
  second: 64 + 4 * maxColumns,
  values: 64 + 8 * maxColumns,
  results: 64 + 8 * maxColumns + 4 * maxValues,
} as const;

/** The loops of kernels.wat and the memory that they work on, which is lent to one call at a time. */
export interface Kernels extends Exports {
  bytes: Uint8Array;
  floats: Float32Array;
  /** Sums of float64 at `place.sums`. */
  sums: Float64Array;
}

let made: Kernels | undefined;

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

/** The kernels, compiled when they are first needed. */
export function kernels(): Kernels {
  made ??= make();
  return made;
}

/** The next multiple of `step`, a power of two. */
export const roundedUp = (count: number, step: number): number => (count + step - 1) & -step;
