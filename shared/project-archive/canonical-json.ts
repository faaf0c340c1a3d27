import type * as z from 'zod';
import { tryParseJson } from '../core/text/try-parse-json.ts';
import { isWellFormed } from '../core/text/well-formed.ts';

/** JSON with sorted object keys, so that equal values have equal texts. The table keeps no order. */
export const canonicalJson = (value: unknown): string => JSON.stringify(order(value));

const order = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(order);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]): [string, unknown] => [name, order(one)])
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries);
};

/**
 * Parse a canonical text with a schema. Return the faults otherwise; the list is empty if the text is not canonical. The
 * schema runs first, because it limits the depth.
 */
export function readCanonical<S extends z.ZodType>(
  text: string,
  schema: S,
): { value: z.output<S> } | { faults: readonly string[] } {
  const value = tryParseJson(text);
  if (value === undefined) return { faults: [] };
  const { success, data, error } = schema.safeParse(value);
  if (!success) return { faults: faultsOf(error) };
  const isGood = canonicalJson(data) === text && isWellFormed(data);
  return isGood ? { value: data } : { faults: [] };
}

/** List the faults of a value, each with its path. */
export const faultsOf = (error: z.ZodError): string[] => error.issues.map(told);

/** Format a fault with its path, for example `variables.0.name is …`. */
const told = ({ path, message }: z.core.$ZodIssue): string =>
  `${path.map(String).join('.').slice(0, 200)} ${message}`.trim();

/** Parse a canonical text with a schema; undefined if it is invalid. */
export function parseCanonical<S extends z.ZodType>(text: string, schema: S): z.output<S> | undefined {
  const read = readCanonical(text, schema);
  return 'value' in read ? read.value : undefined;
}
