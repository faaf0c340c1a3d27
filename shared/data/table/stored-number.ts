import * as z from 'zod';

/** Encode a number for JSON: NaN, the infinities and -0 by their names. */
export function storedNumber(value: number): number | NamedNumber {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : (named.find((name) => Object.is(Number(name), value)) ?? 'NaN');
}

const named = ['NaN', 'Infinity', '-Infinity', '-0'] as const;
type NamedNumber = (typeof named)[number];

/** Schema that decodes a number of {@link storedNumber}. */
export const StoredNumber = z.union([z.number(), z.enum(named).transform(Number)]);

/**
 * Whether the table can store a number as a number. DynamoDB has no NaN and no smaller magnitudes, and its client
 * refuses larger ones.
 */
export const isTableNumber = (value: number): boolean =>
  value === 0 || (Math.abs(value) <= Number.MAX_SAFE_INTEGER && Math.abs(value) >= minMagnitude);

/** Smallest nonzero magnitude that DynamoDB stores. */
const minMagnitude = 1e-130;

/** Encode a number for the table: as text if the table cannot store the number. */
export const tableNumber = (value: number): number | string => {
  if (Object.is(value, -0)) return '-0';
  return isTableNumber(value) ? value : String(value);
};

/** Schema of the output of {@link tableNumber}, unchanged. */
export const TableNumberText = z.union([
  z.number(),
  z.string().regex(/^(?:NaN|-?Infinity|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/),
]);

/** Schema that decodes a number of {@link tableNumber}. */
export const TableNumber = TableNumberText.transform(Number);
