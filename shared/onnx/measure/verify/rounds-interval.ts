import type { Estimate } from '../../../gates/judge-gate.ts';
import { quantile } from './block-ratio.ts';

/** Probability per side that the true median lies outside the interval. */
export const oneSided = 0.001;
/** Fewest rounds for this probability. All of ten rounds lie on one side of the truth with probability 1/1024. */
export const minRounds = 10;

/** Number of rounds that may lie on one side of the truth by chance. */
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
 * The median of independent rounds, with an interval from their order statistics. The truth lies above or below
 * each round with equal probability, regardless of the noise. This holds by construction for identical files,
 * because the sessions' order of opening and running alternates.
 */
export function roundsEstimate(values: readonly number[]): Estimate {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = rankOf(sorted.length);
  return {
    value: quantile(sorted, 0.5),
    interval: [sorted[rank] ?? 0, sorted[sorted.length - 1 - rank] ?? 0],
  };
}
