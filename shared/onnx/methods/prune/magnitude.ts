import type { Model } from '../../model/file/model.ts';
import { ModelError } from '../../model/model-error.ts';
import { elementCount, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';
import type { PruneRequest } from '../../strategies/prune-request.ts';
import { foldViews } from '../fuse/fold-views.ts';
import type { TransformReport } from '../report/report.ts';
import { layerName } from './layer-name.ts';
import {
  bitsOfFloats,
  type Magnitudes,
  magnitudeBits,
  selectLargest,
  strongestOfChannels,
  type Threshold,
} from './magnitude-selection.ts';
import { floatParameters, recordNoChange, recordOutcome } from './outcome.ts';
import { type PrunableWeight, prunableWeights } from './prunable-weights.ts';
import { type Mask, zeroedTensor, zeroingOf } from './zeroed-tensor.ts';

/** Weights from which values are chosen together, and how many of them are kept. */
interface Pool {
  weights: readonly PrunableWeight[];
  size: number;
  /** Values that are kept because they are the strongest of their output channel. */
  protectedCount: number;
}

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
  const perChannel = ({ layouts }: PrunableWeight): number =>
    layouts[0] === undefined ? 0 : layouts[0].reduction * (layouts[0].isInnerChannel ? 1 : layouts[0].inner);
  const tightest = short
    .flatMap(({ weights }) => weights)
    .sort((a, b) => perChannel(a) - perChannel(b))
    .slice(0, 3)
    .map((weight) => `${layerName(weight.node)} has ${perChannel(weight)} weights for each output channel`);
  throw new ModelError(
    `A compression of ${compression} is out of reach, the largest reachable one is ${reachable}: every output channel keeps at least one weight, and ${tightest.join(', ')}.`,
  );
}

/** The mask of a weight: what is below the threshold, save for the strongest of each channel and the first ties. */
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

/** How many values equal the threshold, without those that are always kept. */
function tiesOf({ bits, kept }: Magnitudes, threshold: Threshold): number {
  let count = 0;
  for (let at = 0; at < bits.length; at += 1) if (magnitudeBits(bits[at] ?? 0) === threshold.bits) count += 1;
  for (const at of kept) if (magnitudeBits(bits[at] ?? 0) === threshold.bits) count -= 1;
  return count;
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

/**
 * Zeroes the smallest |w| of Conv, Gemm and MatMul weights, over all of them together (`magnitude_global`) or tensor
 * by tensor (`magnitude_local`), so that 1/compression of the values is kept, exactly; of equals the first are. Every
 * output channel keeps at least its largest one. One weight is held in memory at a time.
 *
 * @throws ModelError where the model has no such weight, or the compression is out of reach
 */
export function pruneMagnitude(
  model: Model,
  request: Pick<PruneRequest, 'strategy' | 'compression' | 'exclude'>,
  report: TransformReport,
): void {
  const { compression } = request;
  if (request.compression > 1) foldViews(model);
  const weights = prunableWeights(model.graph, request.exclude, report);
  const size = weights.reduce((sum, { tensor }) => sum + elementCount(tensor.dims), 0);
  const whole = floatParameters(model.graph);
  if (compression === 1) {
    recordNoChange(report, request, size, whole);
    return;
  }
  if (size === 0)
    throw new ModelError(
      `The model has no weight of a Conv, Gemm or MatMul that may be pruned.${report.keptText()}`,
    );
  const protection = protect(weights);
  const pools = poolsOf(weights, request.strategy === 'magnitude_global', protection);
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
    'Weights were zeroed, not removed: neither the file nor the time it takes shrinks, only the compressed (gzip) size.',
  );
}
