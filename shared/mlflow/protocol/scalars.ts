import * as z from 'zod';
import { maxStep, maxTrackedName, TaggedName } from '../../data/experiments/tracking-rules.ts';

/** A text. JSON responses need well-formed Unicode. */
export const text = z
  .string()
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode, without lone surrogates');

const digits = /^-?\d{1,19}$/;

/** Greatest magnitude of an int64, as a double. */
const maxInt64 = maxStep;

/**
 * An int64 of Protocol Buffers: JSON sends it as a number or as a string of digits. Beyond 2^53 it is rounded to
 * the nearest double.
 */
export const int64 = z
  .union([z.number(), z.string().regex(digits).transform(Number)], { error: 'must be an integer' })
  .refine((value) => Number.isInteger(value) && Math.abs(value) <= maxInt64, 'must be an integer');

/** A step: an integer that a double holds exactly. A larger one would be rounded. */
export const exactStep = int64.refine(
  (value) => Number.isSafeInteger(value),
  'must be an integer from -9007199254740991 to 9007199254740991 (2^53 - 1)',
);

const specials = ['NaN', 'Infinity', '-Infinity'] as const;
const numeric = /^-?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** A double of Protocol Buffers. Values without a JSON number, such as NaN, arrive as text. */
export const double = z.union(
  [
    z.number(),
    z.enum(specials).transform(Number),
    z
      .string()
      .regex(numeric)
      .transform(Number)
      .refine((value) => Number.isFinite(value)),
  ],
  { error: 'Please specify value as a valid double (64-bit floating point)' },
);

/** Format a double for a response. JSON of JavaScript has no -0. */
export const shownDouble = (value: number): number | string => {
  if (Object.is(value, -0)) return '-0.0';
  return Number.isFinite(value) ? value : String(value);
};

/**
 * Format a step for a response. An int64 beyond 2^53 is text, as Protocol Buffers write it: the shortest digits of a double
 * of an earlier release or an archive could be none.
 */
export const shownStep = (step: number | null): number | string => {
  if (step === null || Number.isSafeInteger(step)) return step ?? 0;
  const most = step > 0 ? 2n ** 63n - 1n : 2n ** 63n;
  return Math.abs(step) < maxInt64 ? String(BigInt(step)) : `${step > 0 ? '' : '-'}${most}`;
};

/** Latest time that a `Date` with a four-digit year can hold. */
export const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** Milliseconds since 1970. */
export const milliseconds = int64.refine(
  (value) => value >= 0 && value <= latest,
  'Timestamp must be a nonnegative long (64-bit integer) of milliseconds before the year 10000',
);

/** Shorten a value to its first `most` characters, as MLflow's server does. */
export const shortened = (value: string, most: number): string => {
  if (value.length <= most) return value;
  const characters = [...value];
  return characters.length <= most ? value : characters.slice(0, most).join('');
};

/** A key and its value, as requests send tags and params. */
export const keyAndValue = z.object({ key: text.min(1), value: text.default('') });

/** Convert tags or params to pairs, sorted by key, because the table keeps no order. */
export const pairsOf = (values: Readonly<Record<string, string>>): { key: string; value: string }[] =>
  Object.entries(values)
    .map(([key, value]) => ({ key, value }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));

/** Name of a metric, param or tag, by the rules of MLflow's own server. */
export const trackedName = text.pipe(TaggedName);

const plain = /^\w[\w :-]*(?:[./]\w[\w :-]*)*$/;

/**
 * Whether a name is a common ASCII name. {@link trackedName} accepts every such name, but takes twenty times as
 * long.
 */
export const isPlainName = (name: string): boolean => name.length <= maxTrackedName && plain.test(name);

/** A tag or param in a request. */
export const namedValue = z.object({ key: trackedName, value: text.default('') });
