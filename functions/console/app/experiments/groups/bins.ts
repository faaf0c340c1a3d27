/** A range of numbers. It includes its lower bound but not its upper. */
export interface Bin {
  from: number;
  to: number;
}

/** Maximum number of distinct numbers that form a group each. */
const maxSingle = 20;
const binsWanted = 8;
/**
 * Ratio between the largest and the smallest positive number above which bins are logarithmic, as in the parallel
 * coordinates.
 */
const logSpan = 100;

const round = (value: number): number => Number(value.toPrecision(12));

/** Return bounds at 1, 2 or 5 times a power of ten: as few as possible for the wanted number of bins. */
function evenBounds(low: number, high: number): number[] {
  const raw = (high - low) / binsWanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([5, 2, 1].find((one) => one * power <= raw) ?? 1) * power;
  const first = Math.floor(low / step);
  const count = Math.floor(high / step) - first + 2;
  return Array.from({ length: count }, (_, index) => round((first + index) * step));
}

/** Return bounds at powers of ten. If there are few, add bounds between them. */
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
 * Return a function that puts numbers into bins: even bins, or logarithmic ones if the numbers span powers of ten.
 * Return undefined for few distinct numbers, and if any value is not a number.
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
  // The difference of very large numbers can overflow.
  if (!Number.isFinite(high - low)) return undefined;
  const bounds = low > 0 && high / low >= logSpan ? logBounds(low, high) : evenBounds(low, high);
  const bins = bounds.slice(1).map((to, index) => ({ from: bounds[index] ?? to, to }));
  return (value) => bins.find(({ to }) => value < to) ?? { from: value, to: value };
}
