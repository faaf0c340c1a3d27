/**
 * Spearman's rank correlation, as `scipy.stats.spearmanr` computes it: Pearson's correlation of the ranks, equal numbers with the mean
 * of their ranks. NaN if all numbers of a list are equal, or one is no number.
 */
export function spearman(a: readonly number[], b: readonly number[]): number {
  const [ranksA, ranksB] = [ranksOf(a), ranksOf(b)];
  const middle = (a.length - 1) / 2;
  const product = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, rank, at) => sum + (rank - middle) * ((y[at] ?? 0) - middle), 0);
  return product(ranksA, ranksB) / Math.sqrt(product(ranksA, ranksA) * product(ranksB, ranksB));
}

/** Standard errors above an estimate that it exceeds by chance once in ten thousand times. */
const far = 3.72;
/** Variance of a rank correlation's inverse hyperbolic tangent, times the samples less 3 (Fieller, Hartley and Pearson, 1957). */
const variance = 1.06;

/** The largest rank correlation of all samples that so many of them make likely. */
export const maxSpearman = (correlation: number, samples: number): number =>
  samples <= 3 ? 1 : Math.tanh(Math.atanh(correlation) + far * Math.sqrt(variance / (samples - 3)));

function ranksOf(numbers: readonly number[]): number[] {
  const order = numbers.map((_, at) => at).sort((x, y) => (numbers[x] ?? 0) - (numbers[y] ?? 0));
  const ranks: number[] = [];
  for (let first = 0; first < order.length; ) {
    const number = numbers[order[first] ?? 0];
    let last = first;
    while (last + 1 < order.length && numbers[order[last + 1] ?? 0] === number) last += 1;
    for (let at = first; at <= last; at += 1)
      ranks[order[at] ?? 0] = Number.isNaN(number) ? Number.NaN : (first + last) / 2;
    first = last + 1;
  }
  return ranks;
}
