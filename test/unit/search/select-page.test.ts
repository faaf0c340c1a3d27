import { describe, expect, test } from 'vitest';
import {
  decodePosition,
  encodePosition,
  type Position,
  parseOrder,
  RowOrder,
} from '../../../shared/search/row-order.ts';
import { type RowPage, selectPage } from '../../../shared/search/select-page.ts';
import fc, { runs } from '../../support/seeded-fast-check.ts';
import { type Row, row, vocabulary } from './rows.ts';

const orderOf = (text: string) => new RowOrder<Row>(parseOrder(text, vocabulary), ({ id }) => id);
const idsIn = async (text: string, rows: readonly Row[]): Promise<string> => {
  const page = await selectPage(rows, orderOf(text), { limit: Number.POSITIVE_INFINITY });
  return page.rows.map(({ id }) => id).join('');
};

const rows = [
  row('a', { metrics: { m: 1 }, params: { p: '10' } }),
  row('b', { metrics: { m: Number.NaN }, params: { p: '9' } }),
  row('c', { params: { p: 'text' } }),
  row('d', { metrics: { m: Number.NEGATIVE_INFINITY } }),
  row('e', { metrics: { m: 1 }, params: { p: '-1e3' } }),
  row('f', { metrics: { m: 1e308 }, params: { p: '' } }),
];

describe('an order', () => {
  test.each([
    ['', 'fedcba'],
    ['metrics.m', 'deafbc'],
    ['metrics.m ASC', 'deafbc'],
    ['metrics.m desc', 'feadbc'],
    ['params.p', 'ebafcd'],
    ['params.p DESC', 'abecfd'],
    ['metrics.m DESC, params.p', 'feadbc'],
    ['tags.none, metrics.m DESC, params.p DESC', 'faedbc'],
  ])('%s puts NaN and then missing values last, and drops no row', async (text, ids) => {
    expect(await idsIn(text, rows)).toBe(ids);
  });

  test.each([
    ['metrics.m UP', 'has UP at position 11, where ASC, DESC, a comma or the end is expected'],
    ['metrics.m,', 'ends at position 11, where a name'],
  ])('that is wrong says where: %s', (text, message) => {
    expect(() => parseOrder(text, vocabulary)).toThrow(message);
  });
});

const value = fc.constantFrom(
  0,
  -0,
  1,
  2.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1e308,
  5e-324,
);
const text = fc.constantFrom(
  '',
  'a',
  'a b',
  '1',
  '1e2',
  '12:x',
  'é',
  `${'z'.repeat(300)}1`,
  `${'z'.repeat(300)}2`,
  '\ud83d',
);
const drawn = fc.record({
  metrics: fc.dictionary(fc.constantFrom('m', 'n'), value),
  params: fc.dictionary(fc.constantFrom('p'), text),
});
const orders = fc.constantFrom(
  'metrics.m',
  'metrics.m DESC, params.p',
  'params.p DESC',
  '',
  'params.p, metrics.n, name, tags.x',
);

describe('pages', () => {
  test('hold each row once in the order of all, whatever comes and goes between them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawn, { maxLength: 20 }),
        orders,
        fc.integer({ min: 1, max: 5 }),
        async (given, text, limit) => {
          const order = orderOf(text);
          const all = given.map((one, index) => row(String(index).padStart(2, '0'), one));
          const { rows: sorted } = await selectPage(all, order, { limit: Number.POSITIVE_INFINITY });
          const seen: string[] = [];
          let present = all;
          for (let after: string | undefined = ''; after !== undefined; ) {
            const position: Position | undefined = after === '' ? undefined : decodePosition(after);
            const page: RowPage<Row> = await selectPage(present, order, { limit, after: position });
            seen.push(...page.rows.map(({ id }) => id));
            // The row that the page ended with is deleted, and so is one that was seen before.
            const gone = new Set(seen.filter((_, index) => index % 3 === 0 || index === seen.length - 1));
            present = all.filter(({ id }) => !gone.has(id));
            after = page.next && encodePosition(page.next);
          }
          expect(seen).toEqual(sorted.map(({ id }) => id));
        },
      ),
      { numRuns: runs(200) },
    );
  });

  test('are the same where more rows match than are sorted at once', async () => {
    const many = Array.from({ length: 1000 }, (_, at) =>
      row(String(at).padStart(4, '0'), { metrics: { m: (at * 7919) % 1000 } }),
    );
    const order = orderOf('metrics.m');

    const { rows: first, next } = await selectPage(many, order, { limit: 300 });
    const { rows: second } = await selectPage(many, order, { limit: 300, after: next });

    const values = [...first, ...second].map(({ metrics }) => metrics.get('m'));
    expect(values).toEqual(Array.from({ length: 600 }, (_, at) => at));
  });

  test('end at positions that a cursor has room for, and only those are read', () => {
    const long = row('0'.repeat(26), { params: { p: '語'.repeat(6000), q: '語'.repeat(6000) } });
    const order = orderOf('params.p, params.q, params.p, params.q');
    const encoded = encodePosition(order.positionOf(long));
    expect(Buffer.byteLength(encoded)).toBeLessThan(1000);
    expect(order.compare(decodePosition(encoded)!, order.positionOf(long))).toBe(0);
    for (const bad of ['x 1', 'x 5:1a', 'x 2:9a', 'x 2:0x', `x 1:1${' '.repeat(4000)}`, 'x 1:11:1'])
      expect(decodePosition(bad)).toBeUndefined();
  });
});
