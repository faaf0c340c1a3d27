import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { packColumns, unpackColumns } from '../packed/packed-columns.ts';
import { StoredNumber } from '../table/stored-number.ts';

/** What is known of a metric without reading its points. */
export interface MetricSummary {
  /** Value of the greatest point by step, time and value; a point without step counts as before every step. */
  last: number;
  /** Of all values that are numbers; NaN where none is. */
  min: number;
  max: number;
  /** The least step at which they were reached; absent in summaries of releases that did not note it, and in searches. */
  min_step?: number | null;
  max_step?: number | null;
  /** Of the greatest point. */
  step: number | null;
  /** Of the greatest point, in milliseconds. */
  time: number;
  /** Points. */
  count: number;
}

/** Negative where a point of a metric comes before another, by step, time and value; 0 only for the same point. */
export function comparePoints(one: Placed, other: Placed): number {
  const steps = (one.step ?? Number.NEGATIVE_INFINITY) - (other.step ?? Number.NEGATIVE_INFINITY);
  if (one.step !== other.step) return steps;
  if (one.time !== other.time) return one.time - other.time;
  // Infinity less infinity is no number.
  return one.value === other.value ? 0 : compareNumbers(one.value, other.value);
}

type Placed = Pick<MetricPoint, 'step' | 'time' | 'value'>;

/** One value of a metric that was reported. */
export interface MetricPoint {
  name: string;
  value: number;
  step: number | null;
  /** Milliseconds since 1970. Text of it is made where a person reads it: it takes longer than all else of a point. */
  time: number;
}

/** Order of numbers in which NaN is the least, as it is nothing's best. */
const compareNumbers = (one: number, other: number): number =>
  Number.isNaN(one) || Number.isNaN(other)
    ? Number(Number.isNaN(other)) - Number(Number.isNaN(one))
    : one - other;

/** Whether a point is greater than all that were summarized. */
export const isAfter = (point: Placed, { last, step, time }: MetricSummary): boolean =>
  comparePoints(point, { value: last, step, time }) > 0;

/** The summary with a further point. */
export function withPoint(summary: MetricSummary | undefined, point: MetricPoint): MetricSummary {
  const { value, step, time } = point;
  if (summary === undefined) {
    const reached = Number.isNaN(value) ? null : step;
    const all = { last: value, min: value, max: value, min_step: reached, max_step: reached };
    return { ...all, step, time, count: 1 };
  }
  const isGreatest = isAfter(point, summary);
  const [min, max] = [lesser(summary.min, value), greater(summary.max, value)];
  return {
    last: isGreatest ? value : summary.last,
    min,
    max,
    min_step: reachedAt(point, min, { value: summary.min, step: summary.min_step ?? null }),
    max_step: reachedAt(point, max, { value: summary.max, step: summary.max_step ?? null }),
    step: isGreatest ? step : summary.step,
    time: isGreatest ? time : summary.time,
    count: summary.count + 1,
  };
}

/** The one of two numbers that is no NaN, or the lesser. */
const lesser = (one: number, other: number): number =>
  Number.isNaN(one) ? other : Number.isNaN(other) ? one : Math.min(one, other);
const greater = (one: number, other: number): number => -lesser(-one, -other);

/** Where an extreme value was reached, with a further point. */
function reachedAt(
  { value, step }: MetricPoint,
  extreme: number,
  before: { value: number; step: number | null },
): number | null {
  // -0 is 0 here.
  if (value !== extreme) return before.step;
  if (before.value !== extreme) return step;
  return step === null || before.step === null ? null : Math.min(step, before.step);
}

/**
 * The numbers of summaries, a column for each. {@link summariesIn} reads them. The steps of the extremes are no part:
 * searches do without, and a quarter of their memory.
 */
export const summaryColumns = (summaries: readonly MetricSummary[]): Float64Array[] => [
  column(summaries, ({ last }) => last),
  column(summaries, ({ min }) => min),
  column(summaries, ({ max }) => max),
  // A step is a number, so NaN stands for none.
  column(summaries, ({ step }) => step ?? Number.NaN),
  column(summaries, ({ time }) => time),
  column(summaries, ({ count }) => count),
];

function column(
  summaries: readonly MetricSummary[],
  numberOf: (summary: MetricSummary) => number,
): Float64Array {
  const numbers = new Float64Array(summaries.length);
  // Less than half the time of `Float64Array.from`.
  for (const [index, summary] of summaries.entries()) numbers[index] = numberOf(summary);
  return numbers;
}

/** Makes the summary at an index of the columns of {@link summaryColumns}, and of further ones where they are there. */
export function summariesIn(columns: readonly Float64Array[]): (index: number) => MetricSummary {
  const [last = none, min = none, max = none, step = none, time = none, count = none, ...extremes] = columns;
  const [minStep, maxStep] = extremes;
  return (index) => ({
    last: last[index] ?? 0,
    min: min[index] ?? 0,
    max: max[index] ?? 0,
    ...(minStep !== undefined && { min_step: stepIn(minStep, index) }),
    ...(maxStep !== undefined && { max_step: stepIn(maxStep, index) }),
    step: stepIn(step, index),
    time: time[index] ?? 0,
    count: count[index] ?? 0,
  });
}

const none = new Float64Array();

const stepIn = (numbers: Float64Array, index: number): number | null => {
  const step = numbers[index] ?? Number.NaN;
  return Number.isNaN(step) ? null : step;
};

/** Packs summaries, by name, into bytes. The table's own numbers can be neither 1e308 nor NaN. */
export const packSummaries = (summaries: ReadonlyMap<string, MetricSummary>): Uint8Array =>
  packColumns({ json: [...summaries.keys()], numbers: numbersOf([...summaries.values()]) });

const numbersOf = (summaries: readonly MetricSummary[]): Float64Array[] => [
  ...summaryColumns(summaries),
  ...extremeColumns(summaries),
];

/** The columns of the steps at which extremes were reached, behind those of {@link summaryColumns}. */
const extremeColumns = (summaries: readonly MetricSummary[]): Float64Array[] => [
  column(summaries, ({ min_step }) => min_step ?? Number.NaN),
  column(summaries, ({ max_step }) => max_step ?? Number.NaN),
];

/** The summaries of {@link packSummaries}. */
export function unpackSummaries(packed: Uint8Array): Map<string, MetricSummary> {
  if (isGzip(packed)) return new Map(SummaryRows.parse(JSON.parse(gunzipSync(packed).toString('utf8'))));
  const { json, numbers } = unpackColumns(packed);
  const summaryAt = summariesIn(numbers);
  return new Map(Names.parse(json).map((name, index): [string, MetricSummary] => [name, summaryAt(index)]));
}

const isGzip = (packed: Uint8Array): boolean => packed[0] === 0x1f && packed[1] === 0x8b;

/** What a release without columns wrote: rows of JSON, compressed by gzip. */
const SummaryRows = z.array(
  z
    .tuple([
      z.string(),
      StoredNumber,
      StoredNumber,
      StoredNumber,
      z.number().nullable(),
      z.number(),
      z.number().int(),
    ])
    .transform(([name, last, min, max, step, time, count]): [string, MetricSummary] => [
      name,
      { last, min, max, step, time, count },
    ]),
);

const Names = z.array(z.string());

/** A point as it was stored before there were columns, with its time as ISO 8601. */
export const MetricPointRow = z
  .object({
    name: z.string(),
    value: StoredNumber,
    step: z.number().nullable(),
    time: z.iso.datetime({ precision: 3 }),
  })
  .transform(({ time, ...point }): MetricPoint => ({ ...point, time: Date.parse(time) }));
