/**
 * Move labels from their `wanted` heights as little as possible, so they keep `gap` between them and stay within
 * `top` and `bottom`. Return the heights in the given order.
 */
export function spreadLabels(wanted: readonly number[], gap: number, top: number, bottom: number): number[] {
  const placed = wanted.map((y, index) => ({ y, index })).toSorted((one, other) => one.y - other.y);
  let least = top;
  for (const label of placed) {
    label.y = Math.max(label.y, least);
    least = label.y + gap;
  }
  let most = bottom;
  for (const label of placed.toReversed()) {
    label.y = Math.min(label.y, most);
    most = label.y - gap;
  }
  return placed.toSorted((one, other) => one.index - other.index).map(({ y }) => y);
}
