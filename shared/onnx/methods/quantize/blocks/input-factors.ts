import { floatsOf } from '../../../model/tensor/values.ts';
import type { InputStatistics } from '../../calibrate/statistics-file.ts';
import { inputsOf, largestByInput, outputsOf, type ProductWeight } from '../product-weights.ts';
import type { BlockFormat } from './block-quantize.ts';
import { bestBlockScale, levelOf, reciprocalOf } from './block-scale.ts';

/**
 * Exponents of the candidates: channel k is divided by size_k^a / weight_k^b, with the root mean square of the
 * channel and the largest magnitude of its weights. The search is that of AWQ (Lin et al., 2024), in both of its
 * published forms: b = 0, and b = 1 − a.
 */
const exponents: readonly (readonly [a: number, b: number])[] = [
  ...[0.25, 0.5, 0.75, 1].map((a) => [a, 0] as const),
  ...[0, 0.25, 0.5, 0.75].map((a) => [a, 1 - a] as const),
];

/** Factors are used if the error falls below this share. A Mul for less is not worth its time. */
const worthwhile = 0.9;

/** Maximum number of outputs whose error is computed for each candidate. */
const maxOutputs = 32;

/**
 * Return the factors that divide the channels of an input and multiply its weights, so that the products with the
 * calibration set change least when the weights are stored in blocks. Undefined if no candidate is clearly better
 * than the input as it is, or if its second moment is not known.
 */
export function inputFactors(
  products: readonly ProductWeight[],
  observed: InputStatistics,
  format: BlockFormat,
): Float32Array | undefined {
  const { channels } = observed;
  const moment = observed.moment()?.slice();
  if (moment === undefined || products.some((product) => inputsOf(product) !== channels)) return undefined;
  const sizes = channelSizes(moment, channels);
  if (sizes === undefined) return undefined;
  for (const [at, size] of sizes.entries()) moment[at * channels + at] = size * size;
  const weights = products.map(largestByInput);
  const largest = sizes.map((_, at) => Math.max(...weights.map((weight) => weight[at] ?? 0)));
  const rows = sampledRows(products, channels);
  const lossOf = (by: Float32Array): number =>
    productLoss(rows, by, { moment, sizes, largest: observed.largest }, format);
  const bound = worthwhile * lossOf(new Float32Array(channels).fill(1));
  let [best, least]: [Float32Array | undefined, number] = [undefined, bound];
  for (const [a, b] of exponents) {
    const by = centered(sizes.map((size, at) => size ** a / (largest[at] || 1) ** b));
    const loss = lossOf(by);
    if (loss < least) [best, least] = [by, loss];
  }
  return best;
}

/**
 * Return the root mean square of each channel. A channel that was always zero counts as one of typical size, the
 * geometric mean: no sample shows the effect of its weights, but other data may. Undefined if all were zero.
 */
export function channelSizes(moment: Float64Array, channels: number): Float64Array | undefined {
  const sizes = Float64Array.from({ length: channels }, (_, at) =>
    Math.sqrt(moment[at * channels + at] ?? 0),
  );
  const seen = sizes.filter((size) => size > 0);
  if (seen.length === 0) return undefined;
  const typical = Math.exp(seen.reduce((sum, size) => sum + Math.log(size), 0) / seen.length);
  return sizes.map((size) => (size > 0 ? size : typical));
}

/** Largest ratio of two factors. Beyond it, one side would lose its precision. */
const maxRatio = 1e8;

/** Return factors whose largest and smallest lie at the same distance from 1. */
function centered(factors: Float64Array): Float32Array {
  const [least, most] = factors.reduce(
    ([low, high], factor) => [Math.min(low, factor), Math.max(high, factor)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  const from = Math.max(least, most / maxRatio);
  const middle = Math.sqrt(from * most);
  return Float32Array.from(factors, (factor) => Math.max(factor, from) / middle);
}

/** Return the weights of outputs at equal distances, over all products. */
function sampledRows(products: readonly ProductWeight[], channels: number): Float64Array[] {
  const all = products.reduce((sum, one) => sum + outputsOf(one), 0);
  const step = Math.max(1, all / maxOutputs);
  const rows: Float64Array[] = [];
  let first = 0;
  for (const product of products) {
    const outputs = outputsOf(product);
    const values = floatsOf(product.tensor);
    for (let next = rows.length * step; next < first + outputs; next = rows.length * step) {
      const output = Math.floor(next) - first;
      const [start, stride] = product.inputAxis === 0 ? [output, outputs] : [output * channels, 1];
      rows.push(Float64Array.from({ length: channels }, (_, at) => values[start + at * stride] ?? 0));
    }
    first += outputs;
  }
  return rows;
}

/** Steps of an activation between zero and the largest value of its block: the products compute with 8 bits. */
const activationSteps = 127;

/**
 * Return the squared error of outputs if their inputs are divided by factors and their weights multiplied: eᵀ E[xxᵀ] e
 * for the error e of the rounded weights, plus the error of the activations, which are rounded to 8 bits by block
 * when the product runs.
 */
function productLoss(
  rows: readonly Float64Array[],
  by: Float32Array,
  { moment, sizes, largest }: { moment: Float64Array; sizes: Float64Array; largest: Float64Array },
  format: BlockFormat,
): number {
  const variances = roundingVariances(by, largest, format.blockSize);
  const scaled = new Float64Array(by.length);
  const weights = sizes.map((size, at) => (size / (by[at] ?? 1)) ** 2);
  const error = new Float64Array(by.length);
  let loss = 0;
  for (const row of rows) {
    for (let at = 0; at < row.length; at += 1) {
      scaled[at] = (row[at] ?? 0) * (by[at] ?? 1);
      loss += (scaled[at] ?? 0) ** 2 * (variances[at] ?? 0);
    }
    putErrors({ values: scaled, weights }, by, format, error);
    for (let at = 0, place = 0; at < error.length; at += 1) {
      let sum = 0;
      for (let other = 0; other < error.length; other += 1, place += 1)
        sum += (moment[place] ?? 0) * (error[other] ?? 0);
      loss += sum * (error[at] ?? 0);
    }
  }
  return loss;
}

/** Return the variance of the rounding of each divided channel: a twelfth of the squared step of its block. */
function roundingVariances(by: Float32Array, largest: Float64Array, blockSize: number): Float64Array {
  const variances = new Float64Array(by.length);
  for (let start = 0; start < by.length; start += blockSize) {
    let most = 0;
    for (let at = start; at < Math.min(by.length, start + blockSize); at += 1)
      most = Math.max(most, (largest[at] ?? 0) / (by[at] ?? 1));
    variances.fill((most / activationSteps) ** 2 / 12, start, start + blockSize);
  }
  return variances;
}

/** Compute the error of each weight of a row that is stored in blocks, divided by its factor. */
function putErrors(
  row: { values: Float64Array; weights: Float64Array },
  by: Float32Array,
  { bits, symmetric, blockSize }: BlockFormat,
  error: Float64Array,
): void {
  for (let start = 0; start < by.length; start += blockSize) {
    const values = row.values.subarray(start, start + blockSize);
    const weights = row.weights.subarray(start, start + blockSize);
    const { scale, zeroPoint } = bestBlockScale({ values, weights }, bits, symmetric);
    const reciprocal = reciprocalOf(scale);
    for (const [at, value] of values.entries()) {
      const level = levelOf(value, reciprocal, zeroPoint, 2 ** bits - 1);
      error[start + at] = ((level - zeroPoint) * scale - value) / (by[start + at] ?? 1);
    }
  }
}
