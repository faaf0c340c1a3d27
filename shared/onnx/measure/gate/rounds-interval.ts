import { quantile } from '../verify/block-ratio.ts';
import type { Estimate } from './judge-gate.ts';

/** Chance, on either side, that the true median lies beyond the interval. */
export const oneSided = 0.001;
/** Fewest rounds that allow so small a chance: with all of ten beyond the truth it is 1 of 1,024. */
export const minRounds = 10;

/** How many rounds of so many may lie beyond the truth on one side before that is no chance any more. */
function rankOf(rounds: number): number {
  let [chance, ways, rank] = [0, 1, 0];
  for (; rank < rounds; rank += 1) {
    chance += ways / 2 ** rounds;
    if (chance > oneSided) break;
    ways = (ways * (rounds - rank)) / (rank + 1);
  }
  return Math.max(0, rank - 1);
}

/**
 * The median of what independent rounds measured, and its interval by their order alone: the truth lies above or below
 * each round with equal chance, whatever the noise is like. For files that are the same, the order in which their
 * sessions are opened and run alternates, so that is so by construction.
 */
export function roundsEstimate(values: readonly number[]): Estimate {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = rankOf(sorted.length);
  return {
    value: quantile(sorted, 0.5),
    interval: [sorted[rank] ?? 0, sorted[sorted.length - 1 - rank] ?? 0],
  };
}
