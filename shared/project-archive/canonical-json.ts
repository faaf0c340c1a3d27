import type * as z from 'zod';
import { isWellFormed } from '../core/well-formed.ts';
import { isTableNumber } from '../data/stored-number.ts';

const order = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(order);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]): [string, unknown] => [name, order(one)])
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries);
};

/** JSON with the names of each object in their order, so that equal values are equal texts. The table keeps no order. */
export const canonicalJson = (value: unknown): string => JSON.stringify(order(value));

const hasOnlyTableNumbers = (value: unknown): boolean => {
  if (typeof value === 'number') return isTableNumber(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(hasOnlyTableNumbers);
};

/**
 * The value of a canonical text that fits a schema and that the table takes; undefined for any other text. The schema has
 * the first word, because it goes no deeper than it says.
 */
export function parseCanonical<S extends z.ZodType>(text: string, schema: S): z.output<S> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { success, data } = schema.safeParse(value);
  const isGood = success && canonicalJson(data) === text && isWellFormed(data) && hasOnlyTableNumbers(data);
  return isGood ? data : undefined;
}
