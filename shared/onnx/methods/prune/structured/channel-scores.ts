import { ModelError } from '../../../model/model-error.ts';
import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import type { ChannelGroups, CutTensor } from './channel-groups.ts';

/** For each place on an axis the sum of |w| or of w² over everything that lies there. */
function axisSums(
  values: Float32Array,
  dims: readonly number[],
  axis: number,
  isSquared: boolean,
): Float64Array {
  const size = dims[axis] ?? 0;
  const behind = elementCount(dims.slice(axis + 1));
  const sums = new Float64Array(size);
  for (let at = 0, row = 0; at < values.length; row += 1) {
    const place = row % size;
    let sum = 0;
    for (const end = at + behind; at < end; at += 1) {
      const value = values[at] ?? 0;
      sum += isSquared ? value * value : Math.abs(value);
    }
    sums[place] = (sums[place] ?? 0) + sum;
  }
  return sums;
}

function addNorms(groups: ChannelGroups, sums: Float64Array, isSquared: boolean): void {
  const byTensor = new Map<Tensor, CutTensor[]>();
  for (const cut of groups.tensors) {
    if (!cut.isWeight || elementCount(cut.tensor.dims) === 0) continue;
    byTensor.set(cut.tensor, [...(byTensor.get(cut.tensor) ?? []), cut]);
  }
  for (const [tensor, cuts] of byTensor) {
    const values = floatsOf(tensor);
    for (const { axis, labels } of cuts.flatMap(({ axes }) => axes)) {
      for (const [place, sum] of axisSums(values, tensor.dims, axis, isSquared).entries()) {
        if (!Number.isFinite(sum)) {
          throw new ModelError(
            `The weight ${JSON.stringify(tensor.name)} holds NaN or infinite values: its channels cannot be ranked by norm.`,
          );
        }
        const set = groups.setOf(labels[place] ?? 0);
        if (set !== undefined) sums[set] = (sums[set] ?? 0) + sum;
      }
    }
  }
}

/** Numbers in [0, 1) that a seed decides (splitmix32). */
function* chances(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ; ) {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    yield ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }
}

/**
 * How much each removable set of channels matters: the group norm over all slices of Conv, Gemm and MatMul weights that
 * go with it, those that make the channels and those that use them, ‖g‖₁ = Σ|w| or ‖g‖₂ = √Σw², divided by the mean of
 * its family, Ŝ = S / mean(S), so that layers of different width and scale compare (group importance and its
 * normalization by the mean as in DepGraph, Fang et al., CVPR 2023).
 */
function normScores(groups: ChannelGroups, isSquared: boolean): Float64Array {
  const scores = new Float64Array(groups.count);
  addNorms(groups, scores, isSquared);
  const norms = isSquared ? scores.map(Math.sqrt) : scores;
  const total = new Float64Array(groups.count);
  const members = new Float64Array(groups.count);
  for (const [set, norm] of norms.entries()) {
    const family = groups.familyOf[set] ?? set;
    total[family] = (total[family] ?? 0) + norm;
    members[family] = (members[family] ?? 0) + 1;
  }
  return norms.map((norm, set) => {
    const family = groups.familyOf[set] ?? set;
    const mean = (total[family] ?? 0) / (members[family] ?? 1);
    return mean === 0 ? 0 : norm / mean;
  });
}

function randomScores(groups: ChannelGroups, seed: number): Float64Array {
  const chance = chances(seed);
  return new Float64Array(groups.count).map(() => chance.next().value);
}

const scores = {
  structured_l1: (groups: ChannelGroups) => normScores(groups, false),
  structured_l2: (groups: ChannelGroups) => normScores(groups, true),
  random: randomScores,
};

/** The strategies that remove channels. */
export type StructuredStrategy = keyof typeof scores;

/**
 * How much each removable set of channels matters to a strategy: the lowest are removed first.
 *
 * @throws ModelError where a weight that is ranked holds NaN or infinity
 */
export const channelScores = (
  groups: ChannelGroups,
  strategy: StructuredStrategy,
  seed: number,
): Float64Array => scores[strategy](groups, seed);
