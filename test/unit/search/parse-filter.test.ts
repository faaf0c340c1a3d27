import { describe, expect, test } from 'vitest';
import { parseFilter } from '../../../shared/search/parse-filter.ts';
import { parseOrder } from '../../../shared/search/row-order.ts';
import fc from '../../support/seeded-fast-check.ts';
import { type Row, row, vocabulary } from './rows.ts';

const found = (filter: string, ...rows: Row[]): string[] =>
  rows.filter(parseFilter(filter, vocabulary).matches).map(({ id }) => id);

const one = row('1', {
  name: "it's one",
  created: Date.parse('2026-01-31T12:00:00Z'),
  metrics: { loss: 0.5, 'val loss/"a"': 1, nan: Number.NaN, big: 1e308, zero: -0 },
  params: { lr: '0.01', 'optimizer.name': 'AdamW', note: 'a\nb' },
  tags: { stage: 'final', 'mlflow.source.git.commit': 'abc', __proto__x: 'y' },
});
const two = row('2', { name: 'two', metrics: { loss: 0.25 }, params: { lr: '1e-3' }, tags: {} });

describe('a filter', () => {
  test.each([
    ['', '12'],
    ["params.optimizer.name IN ('AdamW',)", '1'],
    ['  ', '12'],
    ['metrics.loss < 0.5', '2'],
    ['metric.loss>=.5', '1'],
    ['metrics.loss <= 5e-1 AND metrics.loss != 0.25', '1'],
    ['metrics.`val loss/"a"` = 1', '1'],
    ['metrics."val loss/""a""" = 1', '1'],
    ['`metrics`.`val loss/"a"` = +1.0', '1'],
    ['metrics.big > 1e307', '1'],
    ['metrics.zero = 0', '1'],
    ['metrics.nan > 0', ''],
    ['metrics.nan = 0', ''],
    ['metrics.nan != 0', '1'],
    ['metrics.nan IS NOT NULL', '1'],
    ['metrics.nan is null', '2'],
    ['params.optimizer.name = "AdamW"', '1'],
    ["params.optimizer.name != 'SGD'", '1'],
    ["parameters.note LIKE 'a%b'", '1'],
    ["params.optimizer.name LIKE 'adam_'", ''],
    ["params.optimizer.name ILIKE 'adam_'", '1'],
    ['params.lr < 0.005', '2'],
    ['params.lr IN (0.01, 0.001)', '12'],
    ["params.lr NOT IN ('0.01')", '2'],
    ['params.optimizer.name > 3', ''],
    ["tags.mlflow.source.git.commit = 'abc'", '1'],
    ['tags.__proto__ IS NULL', '12'],
    ["tag.stage IN ('final', 'draft') and attributes.name like 'it''s%'", '1'],
    ["attr.name = 'two'", '2'],
    ['"name" = "two"', '2'],
    ["created_at > '2026-01-31'", '1'],
    ["created_at = '2026-01-31T13:00:00+01:00'", '1'],
    ['created_at >= 1769860800000', '1'],
    ['created_at IS NULL', '2'],
  ])('%s', (filter, ids) => {
    expect(found(filter, one, two).join('')).toBe(ids);
  });

  test.each([
    [
      'name',
      'ends at position 5, where a comparison (=, !=, <, <=, >, >=, LIKE, ILIKE, IN, NOT IN, IS NULL, IS NOT NULL) is expected',
    ],
    ["name = 'a' OR name = 'b'", 'has OR at position 12, where AND or the end is expected'],
    [
      "name = 'a' AND",
      'ends at position 15, where a name (name, created_at, metrics.<name>, params.<name>, tags.<name>) is expected',
    ],
    [
      'constructor = 1',
      'has constructor at position 1, where a name (name, created_at, metrics.<name>, params.<name>, tags.<name>) is expected',
    ],
    [
      'datasets.x = 1',
      'has datasets.x at position 1, where a name (name, created_at, metrics.<name>, params.<name>, tags.<name>) is expected',
    ],
    [
      "(name = 'a')",
      'has ( at position 1, where a name (name, created_at, metrics.<name>, params.<name>, tags.<name>) is expected',
    ],
    [
      'metrics. = 1',
      'has metrics. at position 1, where a name (name, created_at, metrics.<name>, params.<name>, tags.<name>) is expected',
    ],
    ["metrics.loss > 'a'", "has 'a' at position 16, where a number is expected"],
    ['metrics.loss > 1.2.3', 'has 1.2.3 at position 16, where a number is expected'],
    ["metrics.loss LIKE 'a'", 'has LIKE at position 14, where a comparison with a number is expected'],
    ['name = two', 'has two at position 8, where a text in quotes is expected'],
    ["name < 'a'", "has 'a' at position 8, where =, !=, LIKE or ILIKE before a text is expected"],
    ["params.lr > 'a'", "has 'a' at position 13, where a number is expected"],
    ["name = 'two", "has a ' at position 8 that is not closed"],
    ["name NOT LIKE 'a'", 'has LIKE at position 10, where IN is expected'],
    ["name IN 'a'", "has 'a' at position 9, where ( is expected"],
    ["name IN ('a' 'b')", "has 'b' at position 14, where , or ) is expected"],
    ['name IN ()', 'has ) at position 10, where a text in quotes is expected'],
    ['name IS 1', 'has 1 at position 9, where NULL or NOT NULL is expected'],
    ['name IS NOT x', 'has x at position 13, where NULL is expected'],
    ['name == 1', 'has = at position 7, where a text in quotes is expected'],
    [
      "created_at > '31.1.2026'",
      'has \'31.1.2026\' at position 14, where a time (milliseconds, or a date such as "2026-01-31" or "2026-01-31T12:00:00Z") is expected',
    ],
    [
      "created_at > '2026-13-01'",
      'has \'2026-13-01\' at position 14, where a time (milliseconds, or a date such as "2026-01-31" or "2026-01-31T12:00:00Z") is expected',
    ],
  ])('that is wrong says where: %s', (filter, message) => {
    expect(() => parseFilter(filter, vocabulary)).toThrow(new RegExp(`^${RegExp.escape(message)}$`));
  });

  test.each([
    ['text', 'x'.repeat(10_001), 'is longer than 10000 characters'],
    [
      'pattern',
      `name LIKE '${'%'.repeat(1001)}'`,
      `has '${'%'.repeat(20)} at position 11, where a pattern of at most 1000 characters is expected`,
    ],
    [
      'list of conditions',
      "name = 'a' AND ".repeat(101),
      'has = at position 1506, where the end (a filter may have at most 100 conditions) is expected',
    ],
  ])('has no longer %s than it may', (_, filter, message) => {
    expect(() => parseFilter(filter, vocabulary)).toThrow(message);
  });

  test('of any text parses or says where it is wrong', () => {
    const piece = fc.constantFrom(
      'name',
      'metrics.a',
      ' ',
      '=',
      "'",
      '"',
      '`',
      '.',
      '(',
      ')',
      ',',
      ' AND ',
      ' IN ',
      ' NOT ',
      ' IS ',
      ' NULL',
      'LIKE',
      '1',
      '-',
      'e',
      '%',
      '\u{1F600}',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        for (const parse of [parseFilter, parseOrder]) {
          try {
            expect(parse(pieces.join(''), vocabulary)).toBeDefined();
          } catch (error) {
            expect(error).toMatchObject({ name: 'SearchSyntaxError', position: expect.any(Number) });
          }
        }
      }),
    );
  });
});
