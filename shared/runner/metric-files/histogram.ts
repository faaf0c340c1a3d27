import { protobufFields } from './protobuf-fields.ts';

/** Number of values between two bounds. */
export interface HistogramBin {
  low: number;
  high: number;
  count: number;
}

/** Return the bins of a `HistogramProto`, without empty ones at its ends. */
export function readHistogram(message: Uint8Array): HistogramBin[] {
  let [min, max] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const limits: number[] = [];
  const counts: number[] = [];
  for (const { number, bytes } of protobufFields(message)) {
    if (number === 1) min = doublesOf(bytes)[0] ?? min;
    else if (number === 2) max = doublesOf(bytes)[0] ?? max;
    else if (number === 6) limits.push(...doublesOf(bytes));
    else if (number === 7) counts.push(...doublesOf(bytes));
  }
  return limits.flatMap((limit, index) => {
    const low = Math.max(min, limits[index - 1] ?? min);
    const high = Math.min(max, limit);
    const count = counts[index] ?? 0;
    return isBin(low, high, count) ? [{ low, high: Math.max(low, high), count }] : [];
  });
}

/** Return the bins of a `TensorProto` of the plugin `histograms`: rows of low, high and count. */
export function readHistogramTensor(tensor: Uint8Array): HistogramBin[] {
  let numbers: number[] = [];
  // `tensor_content`, or `double_val`.
  for (const { number, bytes } of protobufFields(tensor))
    if ((number === 4 || number === 6) && bytes.length % 8 === 0) numbers = [...numbers, ...doublesOf(bytes)];
  const bins: HistogramBin[] = [];
  for (let at = 0; at + 2 < numbers.length; at += 3) {
    const [low = 0, high = 0, count = 0] = numbers.slice(at, at + 3);
    if (isBin(low, high, count)) bins.push({ low, high, count });
  }
  return bins;
}

const isBin = (low: number, high: number, count: number): boolean =>
  count > 0 && Number.isFinite(low) && Number.isFinite(high) && Number.isFinite(count);

/** Numbers of a packed field, or of one that is not. */
function doublesOf(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.floor(bytes.length / 8) }, (_, index) => view.getFloat64(index * 8, true));
}
