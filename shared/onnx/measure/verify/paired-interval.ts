/** Standard errors on each side of an estimate for a 95 % interval. */
const normal95 = 1.96;

/**
 * 95 % interval of the difference of two shares over the same samples. Each sample has `of` labels, and one model
 * got `more` of them right than the other. The interval is paired: labels that both models miss do not widen it.
 */
export function pairedInterval(pairs: readonly { more: number; of: number }[]): [number, number] {
  const labels = pairs.reduce((sum, { of }) => sum + of, 0);
  if (labels === 0) return [0, 0];
  const difference = pairs.reduce((sum, { more }) => sum + more, 0) / labels;
  const squares = pairs.reduce((sum, { more, of }) => sum + (more - difference * of) ** 2, 0);
  const width = (normal95 * Math.sqrt(squares)) / labels;
  return [difference - width, difference + width];
}
