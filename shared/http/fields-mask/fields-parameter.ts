import * as z from 'zod';
import type { FieldsMask } from './parse-mask.ts';

const separator = /\s*,\s*/;

/** The query parameter `fields` of an operation that returns rows of this schema. */
export function fieldsParameter(row: z.ZodObject) {
  const known = Object.keys(row.shape);
  return z
    .string()
    .max(2000, 'is longer than 2000 characters')
    .superRefine((text, { addIssue }) => {
      const unknown = text
        .trim()
        .split(separator)
        .filter((name) => !known.includes(name));
      if (unknown.length === 0) return;
      addIssue(
        `has the unknown field ${unknown[0] === '' ? '"" (at a comma)' : unknown[0]}; allowed are ${known.join(', ')}`,
      );
    })
    .optional()
    .describe('Fields to return, separated by commas. Default: all.');
}

/** The mask of the query parameter `fields`; undefined if it is absent. */
export function maskOfFields(query: unknown): FieldsMask | undefined {
  if (typeof query !== 'object' || query === null || !('fields' in query)) return undefined;
  if (typeof query.fields !== 'string') return undefined;
  return new Map(
    query.fields
      .trim()
      .split(separator)
      .map((name) => [name, true]),
  );
}
