/** A part of the numbers of a column: from a bound up to, but without, the next. */
export interface Bin {
  from: number;
  to: number;
}

/** Different numbers up to which each is a group of its own. */
const maxSingle = 20;
const binsWanted = 8;
/** Numbers above 0 that span this are spread by their logarithm, as axes of parallel coordinates are. */
const logSpan = 100;

const round = (value: number): number => Number(value.toPrecision(12));

/** Bounds at 1, 2 or 5 times a power of ten, as few as make at least the bins that are wanted. */
function evenBounds(low: number, high: number): number[] {
  const raw = (high - low) / binsWanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([5, 2, 1].find((one) => one * power <= raw) ?? 1) * power;
  const first = Math.floor(low / step);
  const count = Math.floor(high / step) - first + 2;
  return Array.from({ length: count }, (_, index) => round((first + index) * step));
}

/** Bounds at powers of ten, and between them where these are few. */
function logBounds(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low));
  const last = Math.floor(Math.log10(high)) + 1;
  const factors = last - first > binsWanted / 2 ? [1] : [1, 2, 5];
  const bounds: number[] = [];
  for (let power = first; power <= last; power += 1)
    for (const factor of factors) bounds.push(round(factor * 10 ** power));
  const from = bounds.findLastIndex((bound) => bound <= low);
  const to = bounds.findIndex((bound) => bound > high);
  return bounds.slice(Math.max(0, from), to < 0 ? undefined : to + 1);
}

/**
 * Puts numbers into bins where they are too many to be a group each: even ones, or by their logarithm where they span
 * powers of ten. Undefined for few numbers, and where there is anything else than numbers.
 */
export function binsOf(values: Iterable<string | number | undefined>): ((value: number) => Bin) | undefined {
  const numbers = new Set<number>();
  for (const value of values) {
    if (value === undefined) continue;
    if (typeof value === 'string' || !Number.isFinite(value)) return undefined;
    numbers.add(value);
  }
  if (numbers.size <= maxSingle) return undefined;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of numbers) [low, high] = [Math.min(low, value), Math.max(high, value)];
  // The span of the greatest numbers is none that a number can hold.
  if (!Number.isFinite(high - low)) return undefined;
  const bounds = low > 0 && high / low >= logSpan ? logBounds(low, high) : evenBounds(low, high);
  const bins = bounds.slice(1).map((to, index) => ({ from: bounds[index] ?? to, to }));
  return (value) => bins.find(({ to }) => value < to) ?? { from: value, to: value };
}
