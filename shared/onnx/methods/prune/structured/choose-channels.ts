import { ModelError } from '../../../model/model-error.ts';
import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import {
  type Bundle,
  type ChannelGroups,
  type CutTensor,
  channelBundles,
  prunableParameters,
  singleBundles,
} from './channel-groups.ts';

const scores = {
  structured_l1: (groups: ChannelGroups) => normScores(groups, false),
  structured_l2: (groups: ChannelGroups) => normScores(groups, true),
  random: randomScores,
};

/** The removed sets of channels, and the remaining sizes. */
export interface Choice {
  /** 1 for each set that is removed. */
  removed: Uint8Array;
  /** Number of remaining channels of each axis. */
  sizes: Int32Array;
  /** Parameters in prunable groups. */
  before: number;
  after: number;
}

/**
 * Tolerated overshoot of the requested compression. Beyond it, single sets are restored even if this breaks
 * blocks.
 */
const mostBeyond = 1.05;

/**
 * Remove sets of channels, lowest score first, until the parameters in prunable groups are at most 1/compression
 * of the original. Remove bundles that leave multiples of a block, and single sets if that does not suffice. Skip
 * a set that would leave an axis empty. The last bundles may have removed too much: restore those that still fit,
 * highest score first. If the compression is out of reach, remove every removable set.
 */
export function chooseChannels(groups: ChannelGroups, scores: Float64Array, compression: number): Choice {
  const tally = new Tally(groups);
  const before = tally.left;
  const removed = new Uint8Array(groups.count);
  const isReached = (): boolean => tally.left * compression <= before;
  const mark = ({ sets }: Bundle, value: 0 | 1): void => {
    for (const set of sets) removed[set] = value;
  };
  const remove = (bundles: readonly Bundle[]): void => {
    for (const bundle of bundles) {
      if (isReached()) return;
      if (tally.remove(bundle.sets)) mark(bundle, 1);
    }
  };
  const restore = (bundles: readonly Bundle[]): void => {
    for (const bundle of bundles.toReversed()) {
      if (bundle.sets.some((set) => removed[set] === 0)) continue;
      tally.restore(bundle.sets);
      if (isReached()) mark(bundle, 0);
      else tally.remove(bundle.sets);
    }
  };
  const singles = (value: 0 | 1): Bundle[] =>
    singleBundles(
      [...removed.keys()].filter((set) => removed[set] === value),
      scores,
    );
  const bundles = channelBundles(groups, scores);
  remove(bundles);
  if (!isReached()) remove(singles(0));
  if (isReached()) {
    restore(bundles);
    if (tally.left * compression * mostBeyond < before) restore(singles(1));
  }
  return { removed, sizes: tally.sizes, before, after: tally.left };
}

/** Count the remaining channels while sets are removed and restored. */
class Tally {
  readonly sizes: Int32Array;
  left: number;
  readonly #groups: ChannelGroups;
  readonly #tensorsOfAxis: number[][];
  readonly #parameters: number[];

  constructor(groups: ChannelGroups) {
    this.#groups = groups;
    this.sizes = Int32Array.from(groups.axes, ({ size }) => size);
    this.#tensorsOfAxis = groups.axes.map(() => []);
    for (const [at, { axes }] of groups.tensors.entries())
      for (const { id } of axes) this.#tensorsOfAxis[id]?.push(at);
    this.#parameters = groups.tensors.map((_, at) => this.#count(at));
    this.left = this.#parameters.reduce((sum, count) => sum + count, 0);
  }

  #count(at: number): number {
    const tensor = this.#groups.tensors[at];
    return tensor === undefined
      ? 0
      : prunableParameters(tensor, this.#groups.axes, (id) => this.sizes[id] ?? 0);
  }

  /** Add a set to its axes (`by` = 1), or remove it (`by` = −1). Return false if an axis has become empty. */
  #shift(set: number, by: number): boolean {
    const own = this.#groups.axesOfSet[set] ?? [];
    for (const id of own) this.sizes[id] = (this.sizes[id] ?? 0) + by;
    return own.every((id) => (this.sizes[id] ?? 0) > 0);
  }

  #recount(sets: readonly number[]): void {
    const axes = new Set(sets.flatMap((set) => this.#groups.axesOfSet[set] ?? []));
    for (const at of new Set([...axes].flatMap((id) => this.#tensorsOfAxis[id] ?? []))) {
      const count = this.#count(at);
      this.left += count - (this.#parameters[at] ?? 0);
      this.#parameters[at] = count;
    }
  }

  /** Remove sets, unless that would leave an axis empty. Return whether they were removed. */
  remove(sets: readonly number[]): boolean {
    const isPossible = sets.map((set) => this.#shift(set, -1)).every((isWhole) => isWhole);
    if (isPossible) this.#recount(sets);
    else for (const set of sets) this.#shift(set, 1);
    return isPossible;
  }

  restore(sets: readonly number[]): void {
    for (const set of sets) this.#shift(set, 1);
    this.#recount(sets);
  }
}

/** Strategies that remove channels. */
export type StructuredStrategy = keyof typeof scores;

/**
 * Score each removable set of channels by a strategy. Sets with the lowest score are removed first.
 *
 * @throws ModelError if a ranked weight contains NaN or infinity
 */
export const channelScores = (
  groups: ChannelGroups,
  strategy: StructuredStrategy,
  seed: number,
): Float64Array => scores[strategy](groups, seed);

/** Return, for each place on an axis, the sum of |w| or w² over all weights at that place. */
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
            `The weight ${JSON.stringify(tensor.name)} contains NaN or infinite values, so its channels cannot be ranked by norm.`,
          );
        }
        const set = groups.setOf(labels[place] ?? 0);
        if (set !== undefined) sums[set] = (sums[set] ?? 0) + sum;
      }
    }
  }
}

/** Yield pseudorandom numbers in [0, 1) from a seed (splitmix32). */
function* chances(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ; ) {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    yield ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }
}

/**
 * Score each removable set by its group norm over all slices of Conv, Gemm and MatMul weights that are removed
 * with it, on the producing and the consuming side: ‖g‖₁ = Σ|w| or ‖g‖₂ = √Σw². The norm is divided by the mean of
 * its family, Ŝ = S / mean(S), to make layers of different width and scale comparable (group importance and its
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
