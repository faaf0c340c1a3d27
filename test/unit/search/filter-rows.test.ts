import { setTimeout } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { runStoppable } from '../../../shared/core/stop-signal.ts';
import { filterRows } from '../../../shared/search/filter-rows.ts';
import { parseFilter } from '../../../shared/search/parse-filter.ts';
import type { FreeWords } from '../../../shared/search/vocabulary.ts';
import { freeVocabulary, type Row, row, vocabulary } from './rows.ts';

const likeLong = () => parseFilter(`name LIKE '%${'a'.repeat(900)}b%'`, vocabulary);
const long = row('1', { name: 'a'.repeat(8000) });
const hundredThousand = Array.from({ length: 100_000 }, () => long);

describe('the filter of a request', () => {
  test('finds a word in a text of each of 100,000 rows', async () => {
    const rows = Array.from({ length: 100_000 }, (_, at) => row(String(at), { name: `trial ${at % 1000}` }));

    const found = await filterRows(rows, parseFilter("name ILIKE '%AL 77_'", vocabulary));

    expect(found).toHaveLength(1000);
  });

  test('is refused where it compares too much', async () => {
    const looked: number[] = [];
    const rows = hundredThousand.values().map((one, at) => {
      looked.push(at);
      return one;
    });

    await expect(filterRows(rows, likeLong())).rejects.toMatchObject({
      kind: 'bad-request',
      errors: [{ in: 'query', name: 'filter', message: expect.stringMatching(/^compares too many texts/) }],
    });

    expect(looked.length).toBeLessThan(4000);
  });

  test('finds a long word in a long text in time linear in the text', async () => {
    const word = `${'a'.repeat(2000)}b${'a'.repeat(2000)}`;
    const text = 'a'.repeat(600_000);
    const rows = [row('1', { name: text }), row('2', { name: `${text}${word.slice(2000)}` })];
    const filter = parseFilter(word, freeVocabulary(new Date(0)));
    const includes = vi.spyOn(String.prototype, 'includes');
    const found = await filterRows(rows, filter);
    // Its time is the product of the lengths: a second for each of these rows.
    const slow = includes.mock.calls.filter(([given]) => given === word);
    includes.mockRestore();

    expect(found.map(({ id }) => id)).toEqual(['2']);
    expect(slow).toEqual([]);
  });

  test('looks for names without group once in a row, and counts that', async () => {
    let looks = 0;
    const free = freeVocabulary(new Date(0));
    const names = Array.from({ length: 90 }, (_, at) => `p${at}`);
    const last = row('1', { params: Object.fromEntries(names.map((name) => [name, '1'])) });
    const parsed = parseFilter<Row>(names.map((name) => `${name} = 1`).join(' OR '), {
      ...free,
      free: {
        ...free.free,
        named: (name) => ({
          label: name,
          type: 'text-or-number',
          read: ({ params }) => {
            looks += 1;
            return params.get(name);
          },
          absence: () => 'which none has',
        }),
      } as FreeWords<Row>,
    });

    await expect(filterRows([...hundredThousand, last], parsed)).rejects.toMatchObject({
      errors: [{ message: expect.stringMatching(/^compares too many texts/) }],
    });
    expect(looks).toBeLessThan(3_000_000);
  });

  test('ends within a row whose regular expressions take too much', async () => {
    let looks = 0;
    const look = () => {
      looks += 1;
      return false;
    };
    const expressions = () => ({ passes: 500, test: look });
    const filter = Array.from({ length: 90 }, () => "NOT name ~ 'a'").join(' AND ');

    const filtered = filterRows([long], parseFilter(filter, { ...vocabulary, expressions }));

    await expect(filtered).rejects.toMatchObject({ kind: 'bad-request' });
    expect(looks).toBeLessThan(10);
  });

  test('gives others their turns', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const filtered = filterRows(hundredThousand.slice(0, 3000), likeLong());

    expect(await filtered).toEqual([]);

    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });

  test('ends with its request', async () => {
    const controller = new AbortController();
    const filtered = runStoppable(controller.signal, () =>
      filterRows(hundredThousand.slice(0, 3700), likeLong()),
    );
    filtered.catch(() => {});
    await setTimeout(10);

    controller.abort();

    await expect(filtered).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
