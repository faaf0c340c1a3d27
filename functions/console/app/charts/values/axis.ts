import { numberText } from '../../ui/text/format.ts';
import { logTicksOf, ticksOf } from './ticks.ts';

/** Value of an item on an axis. Params of experiments are texts, also where they are numbers. */
export type AxisValue = string | number | boolean | null | undefined;

/**
 * Axis of a chart of values: numbers, or texts in their order. Its unit is the number, or the place of the text in the
 * order.
 */
export interface Axis {
  name: string;
  /** Whether it is something that came out, such as a metric. */
  isOutcome: boolean;
  isLog: boolean;
  /** Texts in their order; empty for numbers. */
  words: readonly string[];
  low: number;
  high: number;
  /** Units of the items; undefined without a value. */
  units: readonly (number | undefined)[];
  ticks: readonly { unit: number; text: string }[];
  /** Return the place of a unit, from 0 at the low end to 1 at the high one. */
  placeOf(unit: number): number;
  unitAt(place: number): number;
  text(unit: number): string;
}

/** Ratio of positive bounds from which an axis is logarithmic. */
const logSpan = 100;

const numberOf = (value: AxisValue): number => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
};

const isGiven = (value: AxisValue): value is string | number | boolean =>
  value !== undefined && value !== null;

/** Return the axis of a value of many items; undefined if none has it. NaN and infinity have no place. */
export function axisOf(
  name: string,
  values: readonly AxisValue[],
  { isOutcome = false, isLog }: { isOutcome?: boolean; isLog?: boolean } = {},
): Axis | undefined {
  const given = values.filter(isGiven);
  const isNumeric = given.every(
    (value) => typeof value === 'number' || (typeof value === 'string' && Number.isFinite(numberOf(value))),
  );
  if (!isNumeric) return axisOfWords(name, isOutcome, values);
  const units = values.map((value) => {
    const unit = numberOf(value);
    return Number.isFinite(unit) ? unit : undefined;
  });
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const unit of units) if (unit !== undefined) [low, high] = [Math.min(low, unit), Math.max(high, unit)];
  if (low > high) return undefined;
  const log = low > 0 && (isLog ?? high / low >= logSpan);
  if (low === high)
    [low, high] = log
      ? [low / 2, high * 2]
      : [low - (Math.abs(low) || 1) / 10, high + (Math.abs(high) || 1) / 10];
  const isWhole = units.every((unit) => unit === undefined || Number.isInteger(unit));
  const span = log ? Math.log(high / low) : high - low;
  return {
    name,
    isOutcome,
    isLog: log,
    words: [],
    low,
    high,
    units,
    ticks: (log ? logTicksOf(low, high) : ticksOf(low, high))
      .filter((unit) => !isWhole || Number.isInteger(unit))
      .map((unit) => ({ unit, text: numberText(unit) })),
    placeOf: (unit) => (log ? Math.log(Math.max(unit, Number.MIN_VALUE) / low) : unit - low) / span,
    unitAt: (place) => (log ? low * Math.exp(place * span) : low + place * span),
    text: numberText,
  };
}

function axisOfWords(name: string, isOutcome: boolean, values: readonly AxisValue[]): Axis {
  const words = [...new Set(values.filter(isGiven).map(String))].sort(
    new Intl.Collator(undefined, { numeric: true }).compare,
  );
  const unitOf = new Map(words.map((word, unit) => [word, unit]));
  const high = Math.max(1, words.length - 1);
  return {
    name,
    isOutcome,
    isLog: false,
    words,
    low: 0,
    high,
    units: values.map((value) => (isGiven(value) ? unitOf.get(String(value)) : undefined)),
    ticks: words.map((text, unit) => ({ unit, text })),
    placeOf: (unit) => (words.length === 1 ? 0.5 : unit / high),
    unitAt: (place) => place * high,
    text: (unit) => words[Math.round(unit)] ?? '',
  };
}

/** Whether the items differ on an axis. */
export function isVarying({ units }: Axis): boolean {
  const first = units.find((unit) => unit !== undefined);
  return units.some((unit) => unit !== undefined && unit !== first);
}
