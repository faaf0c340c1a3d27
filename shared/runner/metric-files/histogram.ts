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
    if (number === 1) [min = min] = doublesOf(bytes);
    else if (number === 2) [max = max] = doublesOf(bytes);
    else if (number === 6) addDoubles(limits, bytes);
    else if (number === 7) addDoubles(counts, bytes);
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
  const numbers: number[] = [];
  // `tensor_content`, or `double_val`.
  for (const { number, bytes } of protobufFields(tensor))
    if ((number === 4 || number === 6) && bytes.length % 8 === 0) addDoubles(numbers, bytes);
  const bins: HistogramBin[] = [];
  for (let at = 0; at + 2 < numbers.length; at += 3) {
    const [low = 0, high = 0, count = 0] = numbers.slice(at, at + 3);
    if (isBin(low, high, count)) bins.push({ low, high, count });
  }
  return bins;
}

const isBin = (low: number, high: number, count: number): boolean =>
  count > 0 && Number.isFinite(low) && Number.isFinite(high) && Number.isFinite(count);

/** Add the numbers of a packed field, which may be millions, or of one that is not. */
function addDoubles(to: number[], bytes: Uint8Array): void {
  for (const value of doublesOf(bytes)) to.push(value);
}

function* doublesOf(bytes: Uint8Array): Generator<number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 8 <= bytes.length; at += 8) yield view.getFloat64(at, true);
}
