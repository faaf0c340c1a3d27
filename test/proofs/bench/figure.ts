/** The bound of a figure, and whether it holds. */
export interface Bound {
  text: string;
  isMet: boolean;
}

/** One row of the table. */
export interface Figure {
  what: string;
  /** For people: the value with its unit, and what belongs to it. */
  text: string;
  value: number;
  unit: string;
  bound?: Bound;
}

export interface FigureOptions {
  /** Follows the value in the table. */
  remark?: string;
  atMost?: number;
  atLeast?: number;
}

/** Three significant digits, and no more than a person reads. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

const withUnit = (value: number, unit: string): string =>
  `${rounded(value)}${unit === '×' ? ' ×' : unit && ` ${unit}`}`;

/** A figure. Its unrounded value is compared with its bound. */
export function figure(what: string, value: number, unit: string, options: FigureOptions = {}): Figure {
  const { remark, atMost, atLeast } = options;
  const text = `${withUnit(value, unit)}${remark === undefined ? '' : ` (${remark})`}`;
  const bound: Bound | undefined =
    atMost !== undefined
      ? { text: `≤ ${withUnit(atMost, unit)}`, isMet: value <= atMost }
      : atLeast !== undefined
        ? { text: `≥ ${withUnit(atLeast, unit)}`, isMet: value >= atLeast }
        : undefined;
  return { what, text, value, unit, ...(bound !== undefined && { bound }) };
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = Number.isInteger(middle)
    ? sorted.slice(middle - 1, middle + 1)
    : [sorted[Math.floor(middle)]];
  return (low + high) / 2;
}

/** The value that the share `rank` (0 to 1) of all values do not exceed. */
export function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(rank * sorted.length) - 1)] ?? Number.NaN;
}
