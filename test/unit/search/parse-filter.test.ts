import { describe, expect, test } from 'vitest';
import { parseFilter } from '../../../shared/search/parse-filter.ts';
import { parseOrder } from '../../../shared/search/row-order.ts';
import fc from '../../support/seeded-fast-check.ts';
import { freeVocabulary, type Row, row, vocabulary } from './rows.ts';

const found = (filter: string, ...rows: Row[]): string[] =>
  rows.filter(parseFilter(filter, vocabulary).matches).map(({ id }) => id);

const one = row('1', {
  name: "it's one",
  created: Date.parse('2026-01-31T12:00:00Z'),
  metrics: { loss: 0.5, 'val loss/"a"': 1, nan: Number.NaN, big: 1e308, zero: -0 },
  params: { lr: '0.01', 'optimizer.name': 'AdamW', note: 'a\nb' },
  tags: { stage: 'final', 'mlflow.source.git.commit': 'abc', __proto__x: 'y' },
});
const three = row('3', { metrics: { '~loss': 2 }, params: { 'a~b': 'x~y', a: 'x' }, tags: { 't~': '1' } });
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
    ["name = 'two' OR metrics.big > 0", '12'],
    ["name = 'two' or metrics.loss = 0.5 AND name = 'two'", '2'],
    ["(name = 'two' OR metrics.loss = 0.5) AND params.lr = 0.01", '1'],
    ["NOT name = 'two'", '1'],
    ["not (metrics.loss = 0.5 or name = 'none')", '2'],
    ['NOT metrics.nan IS SET', '2'],
    ['metrics.nan is set', '1'],
    ['metrics.nan IS NOT SET', '2'],
    ['metrics.loss BETWEEN 0.25 AND 0.4', '2'],
    ['metrics.loss NOT BETWEEN 0.25 AND 0.4', '1'],
    ["created_at BETWEEN '2026-01-31' AND '2026-01-31T12:00:00Z'", '1'],
    ["params.optimizer.name NOT LIKE 'S%'", '1'],
    ["params.optimizer.name ~ '^Adam'", '1'],
    ["name !~ '^two$'", '1'],
    ["name RLIKE 'wo$'", '2'],
    ["name ~ '(a+)+b'", ''],
    ["name == 'two'", '2'],
    // Names with the sign of regular expressions, as before there was one.
    ["params.a~b = 'x~y' AND metrics.~loss >= 1", '3'],
    ["params.a~b LIKE 'x%' AND tags.t~ IS NOT NULL AND params.a~b in ('x~y')", '3'],
    ["`params`.a~b NOT IN ('z')", '3'],
    ["params.a~x OR params.a ~ 'x'", '3'],
  ])('%s', (filter, ids) => {
    expect(found(filter, one, two, ...(ids === '3' ? [three] : [])).join('')).toBe(ids);
  });

  test.each([
    [
      'name',
      'ends at position 5, where a comparison (=, !=, <, <=, >, >=, ~, !~, LIKE, ILIKE, IN, BETWEEN, IS NULL, IS SET, and with NOT) is expected',
    ],
    ["name = 'a' XOR name = 'b'", 'has XOR at position 12, where AND, OR or the end is expected'],
    ["(name = 'a'", 'ends at position 12, where AND, OR or ) is expected'],
    ["name = 'a')", 'has ) at position 11, where AND, OR or the end is expected'],
    ["name BETWEEN 'a' AND 'b'", "has 'a' at position 14, where two numbers or times is expected"],
    ['metrics.loss BETWEEN 1', 'ends at position 23, where AND is expected'],
    ["metrics.loss ~ '1'", 'has ~ at position 14, where a comparison with a number is expected'],
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
    ['name NOT 1', 'has 1 at position 10, where LIKE, ILIKE, IN or BETWEEN is expected'],
    ["name IN 'a'", "has 'a' at position 9, where ( is expected"],
    ["name IN ('a' 'b')", "has 'b' at position 14, where , or ) is expected"],
    ['name IN ()', 'has ) at position 10, where a text in quotes is expected'],
    ['name IS 1', 'has 1 at position 9, where NULL, SET, NOT NULL or NOT SET is expected'],
    ['name IS NOT x', 'has x at position 13, where NULL or SET is expected'],
    ['name == 1', 'has 1 at position 9, where a text in quotes is expected'],
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
      'has AND at position 1512, where the end (a filter may have at most 100 conditions) is expected',
    ],
    [
      'nest of conditions',
      '('.repeat(51),
      'has ( at position 51, where a condition (at most 50 parentheses and NOTs may be around one) is expected',
    ],
    [
      'expression',
      `name ~ '${'a'.repeat(501)}'`,
      'where a regular expression of at most 500 characters is expected',
    ],
    ['repetition', "name ~ 'a{900}b{900}'", 'where a regular expression with fewer repetitions is expected'],
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
      ' OR ',
      ' BETWEEN ',
      '~',
      ' yesterday',
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
        const parsers = [
          (text: string) => parseFilter(text, vocabulary),
          (text: string) => parseFilter(text, freeVocabulary(new Date())),
          (text: string) => parseOrder(text, vocabulary),
        ];
        for (const parse of parsers) {
          try {
            expect(parse(pieces.join(''))).toBeDefined();
          } catch (error) {
            expect(error).toMatchObject({ name: 'SearchSyntaxError', position: expect.any(Number) });
          }
        }
      }),
    );
  });
});
