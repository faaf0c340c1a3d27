import * as z from 'zod';

/** A number as JSON can carry it: NaN, the infinities and -0 by their names. */
export function storedNumber(value: number): number | NamedNumber {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : (named.find((name) => Object.is(Number(name), value)) ?? 'NaN');
}

const named = ['NaN', 'Infinity', '-Infinity', '-0'] as const;
type NamedNumber = (typeof named)[number];

/** The number that {@link storedNumber} wrote. */
export const StoredNumber = z.union([z.number(), z.enum(named).transform(Number)]);

/** Whether the table takes a number as it is: it has no NaN and nothing smaller, and its client refuses larger ones. */
export const isTableNumber = (value: number): boolean =>
  value === 0 || (Math.abs(value) <= Number.MAX_SAFE_INTEGER && Math.abs(value) >= minMagnitude);

/** Smallest magnitude but zero that the table takes. */
const minMagnitude = 1e-130;

/** A number as the table takes it: as its text where it has no such number. */
export const tableNumber = (value: number): number | string => {
  if (Object.is(value, -0)) return '-0';
  return isTableNumber(value) ? value : String(value);
};

/** What {@link tableNumber} wrote, as it is written. */
export const TableNumberText = z.union([
  z.number(),
  z.string().regex(/^(?:NaN|-?Infinity|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/),
]);

/** The number that {@link tableNumber} wrote. */
export const TableNumber = TableNumberText.transform(Number);
