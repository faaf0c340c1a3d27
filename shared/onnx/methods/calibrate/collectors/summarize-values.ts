/** A summary of values, made in one pass. */
export interface ValueSummary {
  /** Smallest and largest of all numbers, infinity included; ∞ and -∞ where there are none. */
  min: number;
  max: number;
  /** Smallest magnitude of all numbers; ∞ where there are none. */
  least: number;
  /** Whether there is neither NaN nor infinity among the values. */
  isAllFinite: boolean;
}

/** All bits of a float32 but the sign. */
const magnitudeBits = 0x7fffffff;

const infinityBits = 0x7f800000;

/** Makes signed integers of the bits of floats that rise with them, and floats' bits of such integers. */
const ordered = (bits: number): number => bits ^ ((bits >> 31) & magnitudeBits);

const infinity = { negative: ordered(infinityBits | (1 << 31)), positive: infinityBits };

/** Summarize values in one pass over their bits as integers, which takes half the time. */
export function summarizeValues(values: Float32Array): ValueSummary {
  const patterns = new Int32Array(values.buffer, values.byteOffset, values.length);
  let [low, high, least] = [infinity.positive, infinity.negative, infinityBits];
  for (let at = 0; at < patterns.length; at += 1) {
    const bits = patterns[at] ?? 0;
    const order = ordered(bits);
    if (order < low) low = order;
    if (order > high) high = order;
    const magnitude = bits & magnitudeBits;
    if (magnitude < least) least = magnitude;
  }
  // NaN lies beyond infinity on either side.
  const isNumbers = low >= infinity.negative && high <= infinity.positive;
  if (!isNumbers)
    return { ...summarizeValues(values.filter((value) => !Number.isNaN(value))), isAllFinite: false };
  const isAllFinite = values.length === 0 || (low > infinity.negative && high < infinity.positive);
  return { min: floatOf(ordered(low)), max: floatOf(ordered(high)), least: floatOf(least), isAllFinite };
}

/** The float32 of these bits; -0 is 0. */
const floatOf = (bits: number): number => (new Float32Array(Int32Array.of(bits).buffer)[0] ?? 0) + 0;

/** The finite ones of some values, and their summary. */
export function finitePart(
  values: Float32Array,
  surveyed: ValueSummary,
): readonly [Float32Array, ValueSummary] {
  if (surveyed.isAllFinite) return [values, surveyed];
  const finite = values.filter((value) => Number.isFinite(value));
  return [finite, summarizeValues(finite)];
}
