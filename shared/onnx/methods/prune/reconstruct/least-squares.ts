import { choleskyInPlace } from '../../../model/tensor/cholesky.ts';

/** Share of the mean variance that is added to each kept channel's; ten times as much where that is not enough. */
const firstRidge = 1e-3;
const maxRidge = 1e3;

/**
 * The rows that are to be added to the kept rows of a weight, so that the kept channels make up for the removed ones:
 * (C_SS + λI)⁻¹ C_SR W_R with the covariance or second moment C of the channels (n × n) and the weight W (n × width).
 * It minimizes the expected squared error of the output, with a little ridge for channels that few samples tell apart.
 * Undefined where C holds values that are not finite.
 */
export function compensation(
  moment: Float64Array,
  n: number,
  weights: Float64Array,
  kept: readonly number[],
  removed: readonly number[],
): Float64Array | undefined {
  const [m, width] = [kept.length, n === 0 ? 0 : weights.length / n];
  const result = new Float64Array(m * width);
  for (const [row, p] of kept.entries()) {
    const sums = result.subarray(row * width, (row + 1) * width);
    for (const q of removed) {
      const factor = moment[p * n + q] ?? 0;
      if (factor === 0) continue;
      const other = weights.subarray(q * width, (q + 1) * width);
      for (let at = 0; at < width; at += 1) sums[at] = (sums[at] ?? 0) + factor * (other[at] ?? 0);
    }
  }
  const factor = factored(moment, n, kept);
  if (factor === undefined) return undefined;
  for (let row = 0; row < m; row += 1) eliminate(result, width, factor, m, row, 'forward');
  for (let row = m - 1; row >= 0; row -= 1) eliminate(result, width, factor, m, row, 'backward');
  return result;
}

/** The Cholesky factor of the kept channels' part, with the least ridge of ten times each other that allows it. */
function factored(moment: Float64Array, n: number, kept: readonly number[]): Float64Array | undefined {
  const m = kept.length;
  const mean = kept.reduce((sum, place) => sum + (moment[place * n + place] ?? 0), 0) / Math.max(1, m);
  // Channels that are all constant say nothing of the others.
  const unit = mean > 0 ? mean : 1;
  for (let ridge = firstRidge; ridge <= maxRidge; ridge *= 10) {
    const part = new Float64Array(m * m);
    for (const [row, p] of kept.entries()) {
      for (let column = 0; column <= row; column += 1)
        part[row * m + column] = moment[p * n + (kept[column] ?? 0)] ?? 0;
      part[row * m + row] = (part[row * m + row] ?? 0) + ridge * unit;
    }
    if (choleskyInPlace(part, m)) return part;
  }
  return undefined;
}

/** One row of the solution of L X = B, or of Lᵀ X = B. */
function eliminate(
  values: Float64Array,
  width: number,
  factor: Float64Array,
  m: number,
  row: number,
  direction: 'forward' | 'backward',
): void {
  const own = values.subarray(row * width, (row + 1) * width);
  const [from, to] = direction === 'forward' ? [0, row] : [row + 1, m];
  for (let other = from; other < to; other += 1) {
    const by = (direction === 'forward' ? factor[row * m + other] : factor[other * m + row]) ?? 0;
    const known = values.subarray(other * width, (other + 1) * width);
    for (let at = 0; at < width; at += 1) own[at] = (own[at] ?? 0) - by * (known[at] ?? 0);
  }
  const pivot = factor[row * m + row] ?? 1;
  for (let at = 0; at < width; at += 1) own[at] = (own[at] ?? 0) / pivot;
}
