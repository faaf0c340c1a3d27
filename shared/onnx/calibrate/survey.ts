/** What one look at values tells. */
export interface Survey {
  /** Smallest and largest of all numbers, infinity included; ∞ and -∞ where there are none. */
  min: number;
  max: number;
  /** Smallest magnitude of all numbers. */
  least: number;
  /** Whether there is neither NaN nor infinity among the values. */
  isAllFinite: boolean;
}

/** Looks at values once. */
export function survey(values: Float32Array): Survey {
  let [min, max, least] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let check = 0;
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? 0;
    if (value < min) min = value;
    if (value > max) max = value;
    const magnitude = Math.abs(value);
    if (magnitude < least) least = magnitude;
    // NaN and infinity times 0 are NaN, and so is every sum with it.
    check += value * 0;
  }
  return { min, max, least, isAllFinite: check === 0 };
}
