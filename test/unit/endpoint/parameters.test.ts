import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { toJsonSchema } from '../../../shared/endpoint/openapi/json-schema.ts';
import { line, paragraph, paragraphOrBlank } from '../../../shared/endpoint/parameters.ts';

const limit = 8;

/** Whether the JSON Schema that a caller reads takes a text. */
function isDocumented(schema: z.ZodType, text: string): boolean {
  const { pattern, minLength = 0, maxLength } = toJsonSchema(schema, 'input', new Map());
  const characters = [...text].length;
  return (
    new RegExp(String(pattern), 'u').test(text) &&
    characters >= Number(minLength) &&
    characters <= Number(maxLength)
  );
}

const special = fc.constantFrom(
  ...' \t\n\r\v\f\0\u001F\u007F\u0085\u009F\u00A0\u1680\u2000\u200A\u200B\u2028\u2029\u202A\u202E\u202F\u205F\u2066',
  ...'\u2069\u3000\uFEFF',
);
const texts = fc
  .array(fc.oneof(special, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })), {
    maxLength: limit + 2,
  })
  .map((characters) => characters.join(''));

describe.each([
  ['line', line(limit)],
  ['paragraph', paragraph(limit)],
  ['paragraphOrBlank', paragraphOrBlank(limit)],
])('%s', (_, schema) => {
  test('takes just what its JSON Schema says', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(schema.safeParse(text).success).toBe(isDocumented(schema, text));
      }),
      { numRuns: 3000 },
    );
  });

  test('counts code points', () => {
    expect(schema.safeParse('🎉'.repeat(limit)).success).toBe(true);
    expect(schema.safeParse('🎉'.repeat(limit + 1)).success).toBe(false);
  });
});
