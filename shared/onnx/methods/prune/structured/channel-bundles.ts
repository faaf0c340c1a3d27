import type { ChannelGroups } from './channel-groups.ts';

/** Sets of channels that are removed or kept at once, and their mean score. */
export interface Bundle {
  sets: number[];
  score: number;
}

/**
 * ONNX Runtime computes convolutions in blocks of 8 or 16 channels, as wide as the processor's registers, and gives up
 * on blocks where a grouped convolution's channels do not fill them; products of matrices like whole registers, too.
 */
const blockSizes = [16, 8, 4];
/** A group of channels is divided into at least so many bundles. */
const minBundles = 4;

/** How many sets go at once, so that what is left of `count` is a multiple. */
const blockSize = (count: number): number => blockSizes.find((size) => size * minBundles <= count) ?? 1;

/** Sets that lie on the same axes, by these axes. Those with several channels on one axis are alone. */
function alikeSets({ count, axesOfSet }: ChannelGroups): number[][] {
  const byAxes = new Map<string, number[]>();
  for (let set = 0; set < count; set += 1) {
    const axes = axesOfSet[set] ?? [];
    const key = new Set(axes).size === axes.length ? axes.join() : `alone ${set}`;
    const alike = byAxes.get(key);
    if (alike === undefined) byAxes.set(key, [set]);
    else alike.push(set);
  }
  return [...byAxes.values()];
}

const byScore = (scores: Float64Array) => (a: number, b: number) =>
  (scores[a] ?? 0) - (scores[b] ?? 0) || a - b;

/** All sets in bundles that leave multiples of a block, from the lowest score to the highest. */
export function channelBundles(groups: ChannelGroups, scores: Float64Array): Bundle[] {
  const bundles = alikeSets(groups).flatMap((alike) => {
    const sorted = alike.toSorted(byScore(scores));
    const size = blockSize(sorted.length);
    const own: Bundle[] = [];
    for (let start = 0, end = sorted.length % size || size; start < sorted.length; start = end, end += size) {
      const sets = sorted.slice(start, end);
      own.push({ sets, score: sets.reduce((sum, set) => sum + (scores[set] ?? 0), 0) / sets.length });
    }
    return own;
  });
  return bundles.sort((a, b) => a.score - b.score || (a.sets[0] ?? 0) - (b.sets[0] ?? 0));
}

/** Each of these sets for itself, from the lowest score to the highest. */
export const singleBundles = (sets: readonly number[], scores: Float64Array): Bundle[] =>
  sets.toSorted(byScore(scores)).map((set) => ({ sets: [set], score: scores[set] ?? 0 }));
