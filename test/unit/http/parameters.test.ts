import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { line, paragraph, paragraphOrBlank } from '../../../shared/core/text/text-rules.ts';
import { decimal, decimalAbove, integer } from '../../../shared/http/definition/parameters.ts';
import { toJsonSchema } from '../../../shared/http/openapi/json-schema.ts';
import fc, { anyText, runs } from '../../support/seeded-fast-check.ts';

const limit = 8;

/** Whether the JSON Schema that a caller reads takes a text. Half a surrogate pair is no text, which no schema has to say. */
function isDocumented(schema: z.ZodType, text: string): boolean {
  const { pattern, minLength = 0, maxLength } = toJsonSchema(schema, 'input', new Map());
  const characters = [...text].length;
  return (
    text.isWellFormed() &&
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
  .array(fc.oneof(special, anyText({ minLength: 1, maxLength: 1 })), {
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
      { numRuns: runs(3000) },
    );
  });

  test('counts code points', () => {
    expect(schema.safeParse('🎉'.repeat(limit)).success).toBe(true);
    expect(schema.safeParse('🎉'.repeat(limit + 1)).success).toBe(false);
  });
});

describe('a decimal number', () => {
  test.each([
    ['1e-06', 1e-6],
    ['.5', 0.5],
    ['5.', 5],
    ['5e-2', 0.05],
    ['1E2', 100],
    ['+5', 5],
    ['-0', -0],
    ['0.30000000000000004', 0.30000000000000004],
    [`0.${'0'.repeat(40)}1`, 1e-41],
    ['00012', 12],
  ])('may be written %s', (text, value) => {
    expect(decimal(0, 1000).parse(text)).toBe(value);
  });

  test.each([
    '',
    '.',
    '+',
    'e5',
    '1e',
    '1e+',
    ' 1',
    '1 ',
    '1,5',
    '1_0',
    '0x10',
    'NaN',
    'Infinity',
    'inf',
    '1e999',
    '--1',
    '1.2.3',
    '١',
  ])('is not written %o', (text) => {
    expect(decimal(0, 1000).safeParse(text).error?.issues).toMatchObject([
      { message: 'must be a number from 0 to 1000' },
    ]);
  });

  test('above a bound is not the bound, and says so', () => {
    const schema = decimalAbove(0, 1000);
    expect(schema.parse('1e-6')).toBe(1e-6);
    expect(schema.safeParse('5e-324').error?.issues).toMatchObject([
      { message: 'must be at least 0.000001 above 0' },
    ]);
    for (const text of ['0', '-1', '1e-400', '1000.1', 'x']) {
      expect(schema.safeParse(text).error?.issues).toMatchObject([
        { message: 'must be a number above 0, at most 1000' },
      ]);
    }
    const documented = { type: 'number', exclusiveMinimum: 0, maximum: 1000 };
    expect(toJsonSchema(schema, 'input', new Map())).toEqual(documented);
  });
});

test('the bounds of a number stand in its schema, also those of exact integers', () => {
  const { MIN_SAFE_INTEGER: minimum, MAX_SAFE_INTEGER: maximum } = Number;
  const schema = decimal(minimum, maximum).optional();
  expect(schema.safeParse('1e131').success).toBe(false);
  expect(toJsonSchema(schema, 'input', new Map())).toEqual({ type: 'number', minimum, maximum });
});

test('a whole number may be as large as its schema says', () => {
  const schema = integer(1, Number.MAX_SAFE_INTEGER);
  expect(schema.safeParse('9007199254740991').data).toBe(Number.MAX_SAFE_INTEGER);
  for (const beyond of ['9007199254740992', '9007199254740993', '99999999999999999', '0'])
    expect(schema.safeParse(beyond).success, beyond).toBe(false);
});

describe('an extreme number', () => {
  test.each([1e-300, 5e-324, '1e-300', -0, 1e300, `${'1'.repeat(200_000)}x`])('%.20s is refused', (value) => {
    expect(decimalAbove(0, 1_000_000).safeParse(value).success).toBe(false);
  });

  test.each([0.000_001, '5.', '.5', '1e-3'])('%s is taken', (value) => {
    expect(decimalAbove(0, 1_000_000).safeParse(value).success).toBe(true);
  });
});
