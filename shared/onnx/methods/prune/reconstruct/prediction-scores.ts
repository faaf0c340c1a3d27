import type { CalibrationStatistics } from '../../calibrate/statistics-file.ts';
import type { ChannelGroups } from '../structured/channel-groups.ts';
import { type Consumer, rowsOf } from './channel-rows.ts';
import { momentsOf } from './input-moments.ts';
import { PivotedCholesky } from './least-squares.ts';

/**
 * Allocation of removed channels to layers. `uniform`: each layer loses the same share. `sensitivity`: the layers
 * whose output needs their channels least lose most.
 */
export type Allocation = 'uniform' | 'sensitivity';

/**
 * Score each removable set of channels. Sets with the lowest score are removed first. A pivoted Cholesky
 * factorization (see {@link PivotedCholesky}) ranks the sets jointly over all consumers of their channels. The
 * output of each consumer counts as 1. With `uniform` the score is the rank among the sets that compete. With
 * `sensitivity` it is the share of the outputs that a set explains, per parameter that is removed with it. Sets
 * without a consumer with statistics are ranked by `otherwise`.
 */
export function predictionScores(
  groups: ChannelGroups,
  consumers: readonly Consumer[],
  statistics: CalibrationStatistics,
  allocation: Allocation,
  otherwise: Float64Array,
): Float64Array {
  const scores = new Float64Array(groups.count).fill(Number.NaN);
  const parameters = parametersOf(groups);
  const views = consumers.flatMap((consumer) => viewsOf(consumer, groups, statistics));
  for (const part of parts(views)) {
    const order = ranked(part);
    let gain = Number.POSITIVE_INFINITY;
    for (const [rank, one] of order.entries()) {
      // A set that was kept earlier never scores less than one that was kept later.
      gain = Math.min(gain, one.gain);
      scores[one.set] =
        allocation === 'uniform'
          ? (order.length - rank) / order.length
          : (gain + 1e-12 * (order.length - rank)) / Math.max(1, parameters[one.set] ?? 1);
    }
  }
  const unknown = [...scores.keys()].filter((set) => Number.isNaN(scores[set]));
  const byNorm = unknown.toSorted((a, b) => (otherwise[a] ?? 0) - (otherwise[b] ?? 0));
  const typical =
    allocation === 'uniform' ? 1 : scores.reduce((most, score) => (score > most ? score : most), 0);
  for (const [rank, set] of byNorm.entries()) scores[set] = (typical * (rank + 1)) / byNorm.length;
  return scores;
}

/** Return the number of parameters that are removed with each set. */
function parametersOf(groups: ChannelGroups): Float64Array {
  const perChannel = new Float64Array(groups.axes.length);
  for (const { tensor, axes } of groups.tensors) {
    const count = tensor.dims.reduce((product, dim) => product * dim, 1);
    for (const { id } of axes)
      perChannel[id] = (perChannel[id] ?? 0) + count / Math.max(1, groups.axes[id]?.size ?? 1);
  }
  return Float64Array.from({ length: groups.count }, (_, set) =>
    (groups.axesOfSet[set] ?? []).reduce((sum, id) => sum + (perChannel[id] ?? 0), 0),
  );
}

/** A group of a consumer: its channels, and the share of its output that keeping each set would explain. */
interface View {
  sets: ReadonlyMap<number, readonly number[]>;
  cholesky: PivotedCholesky;
}

function viewsOf(consumer: Consumer, groups: ChannelGroups, statistics: CalibrationStatistics): View[] {
  const moments = momentsOf(consumer, statistics) ?? [];
  return moments.map(({ matrix, channels }, group) => {
    const { sets, fixed } = placesOf(consumer, group, groups.setOf);
    const { values, kernel } = rowsOf(consumer, group);
    const cholesky = new PivotedCholesky(matrix, values, channels, sets, kernel);
    cholesky.keepPlaces(fixed);
    return { sets, cholesky };
  });
}

/** Return the places of each set among the channels of a group, and those of channels that cannot be removed. */
function placesOf({ labels, groups }: Consumer, group: number, setOf: ChannelGroups['setOf']) {
  const channels = labels.length / groups;
  const sets = new Map<number, number[]>();
  const fixed: number[] = [];
  for (let place = 0; place < channels; place += 1) {
    const set = setOf(labels[group * channels + place] ?? 0);
    if (set === undefined) fixed.push(place);
    else sets.set(set, [...(sets.get(set) ?? []), place]);
  }
  return { sets, fixed };
}

/** Split views into parts that share no set. Return each part with its sets. */
function parts(views: readonly View[]): { views: View[]; sets: number[] }[] {
  const owner = new Map<number, { views: View[]; sets: number[] }>();
  const all = new Set<{ views: View[]; sets: number[] }>();
  for (const view of views) {
    const joined = { views: [view], sets: [] as number[] };
    const met = new Set(
      [...view.sets.keys()].map((set) => owner.get(set)).filter((one) => one !== undefined),
    );
    for (const other of met) {
      joined.views = joined.views.concat(other.views);
      joined.sets = joined.sets.concat(other.sets);
      all.delete(other);
    }
    const known = new Set(joined.sets);
    for (const set of view.sets.keys()) if (!known.has(set)) joined.sets.push(set);
    for (const set of joined.sets) owner.set(set, joined);
    all.add(joined);
  }
  return [...all];
}

/** A set in the order of keeping, and the share of the consumers' output that it explains at that point. */
interface Ranked {
  set: number;
  gain: number;
}

/**
 * Ranking stops when this share of the error is explained, or this share of the sets is kept. Beyond that the
 * order matters little. The remaining sets come last, by the share that they would explain.
 */
const maxExplained = 1 - 1e-6;

const maxOrdered = 0.75;

function ranked({ views, sets }: { views: readonly View[]; sets: readonly number[] }): Ranked[] {
  const bySet = new Map<number, View[]>();
  for (const view of views)
    for (const set of view.sets.keys()) bySet.set(set, [...(bySet.get(set) ?? []), view]);
  const gainOf = (set: number): number =>
    (bySet.get(set) ?? []).reduce(
      (sum, { cholesky }) => sum + (cholesky.energy > 0 ? cholesky.gain(set) / cholesky.energy : 0),
      0,
    );
  const left = new Set(sets);
  const order: Ranked[] = [];
  let explained = 0;
  while (left.size > 0) {
    let best: Ranked | undefined;
    for (const set of left) {
      const gain = gainOf(set);
      if (best === undefined || gain > best.gain) best = { set, gain };
    }
    if (best === undefined) break;
    order.push(best);
    left.delete(best.set);
    explained += best.gain;
    if (explained >= maxExplained * views.length || order.length >= maxOrdered * sets.length) break;
    for (const view of bySet.get(best.set) ?? []) view.cholesky.keep(best.set);
  }
  const rest = [...left].map((set): Ranked => ({ set, gain: gainOf(set) }));
  return [...order, ...rest.sort((a, b) => b.gain - a.gain || a.set - b.set)];
}
