import * as z from 'zod';

const named = ['NaN', 'Infinity', '-Infinity', '-0'] as const;
type NamedNumber = (typeof named)[number];

/** A number as JSON can carry it: NaN, the infinities and -0 by their names. */
export function storedNumber(value: number): number | NamedNumber {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : (named.find((name) => Object.is(Number(name), value)) ?? 'NaN');
}

/** The number that {@link storedNumber} wrote. */
export const StoredNumber = z.union([z.number(), z.enum(named).transform(Number)]);
