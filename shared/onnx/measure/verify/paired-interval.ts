/** Standard errors on either side of an estimate that hold the true value 95 times of 100. */
const normal95 = 1.96;

/**
 * 95 % interval of the difference of two shares over the same samples, each with `of` labels of which one model met
 * `more` than the other. Paired: what both models miss makes it no wider.
 */
export function pairedInterval(pairs: readonly { more: number; of: number }[]): [number, number] {
  const labels = pairs.reduce((sum, { of }) => sum + of, 0);
  if (labels === 0) return [0, 0];
  const difference = pairs.reduce((sum, { more }) => sum + more, 0) / labels;
  const squares = pairs.reduce((sum, { more, of }) => sum + (more - difference * of) ** 2, 0);
  const width = (normal95 * Math.sqrt(squares)) / labels;
  return [difference - width, difference + width];
}
