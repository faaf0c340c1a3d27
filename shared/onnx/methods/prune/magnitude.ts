import type { Model } from '../../model/file/model.ts';
import { ModelError } from '../../model/model-error.ts';
import { elementCount, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';
import type { PruneRequest } from '../../strategies/prune-request.ts';
import type { TransformReport } from '../report/report.ts';
import { floatParameters, layerName, recordNoChange, recordOutcome } from './outcome.ts';
import { preparePruning } from './prepare-pruning.ts';
import { type PrunableWeight, prunableWeights } from './prunable-weights.ts';
import { channelsOf, type WeightLayout } from './weight-layout.ts';
import { type Mask, zeroedTensor, zeroingOf } from './zeroed-tensor.ts';

/**
 * Zero the smallest |w| of Conv, Gemm and MatMul weights, over all weights together (`magnitude_global`) or per
 * tensor (`magnitude_local`). Exactly 1/compression of the values remains; ties are kept in index order. Every
 * output channel keeps at least its largest weight. One weight is in memory at a time.
 *
 * @throws ModelError if the model has no such weight, or the compression is out of reach
 */
export function pruneMagnitude(
  model: Model,
  request: Pick<PruneRequest, 'strategy' | 'compression' | 'exclude'>,
  report: TransformReport,
): void {
  const { compression } = request;
  if (request.compression > 1) preparePruning(model, request.exclude);
  const isGlobal = request.strategy === 'magnitude_global';
  const all = prunableWeights(model.graph, request.exclude, report);
  const weights = isGlobal ? all : divisible(all, report);
  const size = weights.reduce((sum, { tensor }) => sum + elementCount(tensor.dims), 0);
  const whole = floatParameters(model.graph);
  if (compression === 1) {
    recordNoChange(report, request, size, whole);
    return;
  }
  if (size === 0)
    throw new ModelError(`The model has no prunable weight of a Conv, Gemm or MatMul.${report.keptText()}`);
  const protection = protect(weights);
  const pools = poolsOf(weights, isGlobal, protection);
  refuseOutOfReach(pools, compression);
  for (const pool of pools) prunePool(pool, compression, protection, report);
  const after = pools.reduce((sum, pool) => sum + Math.floor(pool.size / compression), 0);
  recordOutcome(report, request, {
    before: size,
    after,
    modelBefore: whole,
    modelAfter: whole - size + after,
  });
  report.notes.push(
    'Weights were zeroed, not removed: only the compressed (gzip) size shrinks, not the file or the run time.',
  );
}

/**
 * Leave out the weights with a single value for each channel, such as a Conv of one input channel over one place: they
 * would stop every compression. If no others are left, all are returned.
 */
function divisible(weights: readonly PrunableWeight[], report: TransformReport): readonly PrunableWeight[] {
  const isShort = (weight: PrunableWeight): boolean => perChannel(weight) <= 1;
  if (weights.every(isShort)) return weights;
  for (const weight of weights.filter(isShort))
    report.keep(
      `weight ${weight.tensor.name} of ${layerName(weight.node)}`,
      'has one value for each output channel, which keeps at least one',
    );
  return weights.filter((weight) => !isShort(weight));
}

/** Return the number of values of each output channel of a weight. */
const perChannel = ({ layouts: [layout] }: PrunableWeight): number =>
  layout === undefined ? 0 : layout.reduction * (layout.isInnerChannel ? 1 : layout.inner);

type Protection = ReadonlyMap<Tensor, Uint32Array>;

function protect(weights: readonly PrunableWeight[]): Protection {
  return new Map(
    weights.map(({ tensor, layouts }) => {
      const bits = bitsOfFloats(floatsOf(tensor));
      const [first = new Uint32Array(), ...others] = layouts.map((layout) =>
        strongestOfChannels(bits, layout),
      );
      const all =
        others.length === 0
          ? first
          : Uint32Array.from(new Set([first, ...others].flatMap((own) => [...own])));
      return [tensor, all];
    }),
  );
}

/** View the bits of float32 values, sign included. */
export const bitsOfFloats = (values: Float32Array): Uint32Array =>
  new Uint32Array(values.buffer, values.byteOffset, values.length);

const withoutSign = 0x7fffffff;

/** Return the index of the largest magnitude of each output channel, ties by index. */
function strongestOfChannels(bits: Uint32Array, layout: WeightLayout): Uint32Array {
  const { outer, reduction, inner, isInnerChannel } = layout;
  const strongest = new Uint32Array(channelsOf(layout));
  const most = new Int32Array(strongest.length).fill(-1);
  let at = 0;
  for (let channel = 0; channel < outer; channel += 1) {
    for (let step = 0; step < reduction; step += 1) {
      for (let place = 0; place < inner; place += 1, at += 1) {
        const own = isInnerChannel ? channel * inner + place : channel;
        const magnitude = (bits[at] ?? 0) & withoutSign;
        if (magnitude > (most[own] ?? 0)) {
          most[own] = magnitude;
          strongest[own] = at;
        }
      }
    }
  }
  return strongest;
}

/** Weights that compete for the same budget of kept values. */
interface Pool {
  weights: readonly PrunableWeight[];
  size: number;
  /** Number of values that are kept because they are the largest of their output channel. */
  protectedCount: number;
}

function poolsOf(weights: readonly PrunableWeight[], isGlobal: boolean, protection: Protection): Pool[] {
  const pool = (own: readonly PrunableWeight[]): Pool => ({
    weights: own,
    size: own.reduce((sum, { tensor }) => sum + elementCount(tensor.dims), 0),
    protectedCount: own.reduce((sum, { tensor }) => sum + (protection.get(tensor)?.length ?? 0), 0),
  });
  return isGlobal ? [pool(weights)] : weights.map((weight) => pool([weight]));
}

function refuseOutOfReach(pools: readonly Pool[], compression: number): void {
  const short = pools.filter(({ size, protectedCount }) => Math.floor(size / compression) < protectedCount);
  if (short.length === 0) return;
  const reachable = Math.min(...pools.map(({ size, protectedCount }) => Math.floor(size / protectedCount)));
  const tightest = short
    .flatMap(({ weights }) => weights)
    .sort((a, b) => perChannel(a) - perChannel(b))
    .slice(0, 3)
    .map((weight) => `${layerName(weight.node)} has ${perChannel(weight)} weights for each output channel`);
  throw new ModelError(
    `A compression of ${compression} cannot be reached; the maximum is ${reachable}: every output channel keeps at least one weight, and ${tightest.join(', ')}.`,
  );
}

/** Bits of values, for comparison by magnitude. `kept` are the positions that are always kept. */
interface Magnitudes {
  bits: Uint32Array;
  kept: Uint32Array;
}

function prunePool(pool: Pool, compression: number, protection: Protection, report: TransformReport): void {
  const magnitudesOf = ({ tensor }: PrunableWeight): Magnitudes => ({
    bits: bitsOfFloats(floatsOf(tensor)),
    kept: protection.get(tensor) ?? new Uint32Array(),
  });
  const count = Math.floor(pool.size / compression) - pool.protectedCount;
  const threshold = selectLargest(count, function* () {
    for (const weight of pool.weights) yield magnitudesOf(weight);
  });
  let left = threshold.ties;
  for (const weight of pool.weights) {
    const { tensor, graph } = weight;
    const magnitudes = magnitudesOf(weight);
    const ties = Math.min(left, tiesOf(magnitudes, threshold));
    left -= ties;
    const mask = maskOf(threshold, ties, magnitudes.kept);
    report.layers.push(zeroingOf(weight, mask));
    graph.put(zeroedTensor(tensor, mask));
  }
}

/** Values with a magnitude above `bits` are kept. Of the values equal to it, the first `ties` are kept. */
interface Threshold {
  bits: number;
  ties: number;
}

/**
 * The largest magnitudes are selected by their float32 bits, which without the sign sort like the numbers. This
 * takes two passes and two histograms for any number of values and pieces. NaN counts as larger than everything.
 */

const lowBits = 15;

const highBins = 2 ** (31 - lowBits);

const lowBins = 2 ** lowBits;

/**
 * Return the threshold that keeps `count` values in addition to those that are always kept. `pieces` is iterated
 * twice and must yield the same values both times.
 */
function selectLargest(count: number, pieces: () => Iterable<Magnitudes>): Threshold {
  if (count <= 0) return { bits: Number.POSITIVE_INFINITY, ties: 0 };
  const high = new Float64Array(highBins);
  const addHigh = (bits: number, by: number): void => {
    const bin = (bits & withoutSign) >>> lowBits;
    high[bin] = (high[bin] ?? 0) + by;
  };
  for (const { bits, kept } of pieces()) {
    for (let at = 0; at < bits.length; at += 1) addHigh(bits[at] ?? 0, 1);
    for (const at of kept) addHigh(bits[at] ?? 0, -1);
  }
  const upper = partition(high, count);
  const low = new Float64Array(lowBins);
  const addLow = (bits: number, by: number): void => {
    const magnitude = bits & withoutSign;
    if (magnitude >>> lowBits !== upper.bin) return;
    const bin = magnitude & (lowBins - 1);
    low[bin] = (low[bin] ?? 0) + by;
  };
  for (const { bits, kept } of pieces()) {
    for (let at = 0; at < bits.length; at += 1) addLow(bits[at] ?? 0, 1);
    for (const at of kept) addLow(bits[at] ?? 0, -1);
  }
  const lower = partition(low, upper.left);
  return { bits: upper.bin * lowBins + lower.bin, ties: lower.left };
}

/**
 * Subtract the bins from `count`, highest bin first. Return the bin that uses it up, and the remainder before that
 * bin.
 */
function partition(histogram: Float64Array, count: number): { bin: number; left: number } {
  let left = count;
  for (let bin = histogram.length - 1; bin > 0; bin -= 1) {
    const size = histogram[bin] ?? 0;
    if (size >= left) return { bin, left };
    left -= size;
  }
  return { bin: 0, left };
}

/** Count the values equal to the threshold, without those that are always kept. */
function tiesOf({ bits, kept }: Magnitudes, threshold: Threshold): number {
  let count = 0;
  for (let at = 0; at < bits.length; at += 1) if (magnitudeBits(bits[at] ?? 0) === threshold.bits) count += 1;
  for (const at of kept) if (magnitudeBits(bits[at] ?? 0) === threshold.bits) count -= 1;
  return count;
}

export const magnitudeBits = (bits: number): number => bits & withoutSign;

/** Mask the values below the threshold. Keep the largest of each channel and the first ties. */
const maskOf =
  (threshold: Threshold, ties: number, kept: Uint32Array): Mask =>
  (values) => {
    const bits = bitsOfFloats(values);
    const gone = new Uint8Array(bits.length);
    for (const at of kept) gone[at] = 2;
    let left = ties;
    for (let at = 0; at < gone.length; at += 1) {
      if (gone[at] === 2) continue;
      const magnitude = magnitudeBits(bits[at] ?? 0);
      if (magnitude > threshold.bits) continue;
      if (magnitude === threshold.bits && left > 0) left -= 1;
      else gone[at] = 1;
    }
    return gone;
  };
