import { type Bundle, channelBundles, singleBundles } from './channel-bundles.ts';
import { type ChannelGroups, prunableParameters } from './channel-groups.ts';

/** Which sets of channels are removed, and what is left. */
export interface Choice {
  /** 1 for each set that is removed. */
  removed: Uint8Array;
  /** Channels left on each axis. */
  sizes: Int32Array;
  /** Parameters in prunable groups. */
  before: number;
  after: number;
}

/** Counts the remaining channels while sets are removed and put back. */
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

  /** Add a set to its axes, or remove it with −1. False where one of them has become empty. */
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

  /** Removes sets, unless an axis would be empty without them. */
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

/** Beyond this part more than was asked for, blocks are given up for a compression that is met closely. */
const mostBeyond = 1.05;

/**
 * Removes sets of channels from the lowest score on, until parameters in prunable groups are at most 1/compression of
 * what they were: in bundles that leave multiples of a block, and one by one where that does not suffice. A set that
 * would leave an axis empty is skipped. The last sets may have been large: those that fit into the room that they
 * left are put back, from the highest score down. Where the compression cannot be reached, every removable set is
 * removed.
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
