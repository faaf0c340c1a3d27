/**
 * Return the ranks of values from 1 on. Equal values share the mean of their ranks.
 * @example
 * ranks([3, 1, 3]); // [2.5, 1, 2.5]
 */
export function ranks(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const found = values.map(() => 0);
  for (let start = 0; start < order.length; ) {
    const value = values[order[start] ?? 0];
    let end = start + 1;
    while (end < order.length && values[order[end] ?? 0] === value) end += 1;
    for (const index of order.slice(start, end)) found[index] = (start + 1 + end) / 2;
    start = end;
  }
  return found;
}

/**
 * Return Spearman's rank correlation of two lists of equal length, from -1 to 1: the correlation of their ranks.
 * Return undefined if one has the same value everywhere.
 */
export const rankCorrelation = (one: readonly number[], other: readonly number[]): number | undefined =>
  correlation(ranks(one), ranks(other));

/** Return how closely the values of two lists follow a line, from -1 to 1. Undefined if one has the same value everywhere. */
export function correlation(one: readonly number[], other: readonly number[]): number | undefined {
  const [x, y] = [centred(one), centred(other)];
  const product = (left: readonly number[], right: readonly number[]): number =>
    left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
  const norm = Math.sqrt(product(x, x) * product(y, y));
  return norm === 0 ? undefined : Math.max(-1, Math.min(1, product(x, y) / norm));
}

function centred(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}
