import { ulid } from 'ulid';
import { beforeEach, describe, expect, test } from 'vitest';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import type { Environment } from '../../../shared/core/needs.ts';
import {
  isSpread,
  type SpreadList,
  spreadId,
  spreadList,
  spreadLists,
} from '../../../shared/data/lists/spread-list.ts';
import { readWatched, scheduleNextPass } from '../../../shared/data/lists/watched-list.ts';
import type { TableWriter, Write } from '../../../shared/data/table/table.ts';
import { tableWriter } from '../../../shared/data/table/table-writer.ts';
import fc, { runs } from '../../support/seeded-fast-check.ts';
import { testEnvironment } from '../../support/service.ts';

type Records = TableWriter<'records'>;

const large = 1000;
/** Milliseconds since 1970, of the first id. */
const first = Date.parse('2026-01-02T03:04:05.000Z');
const isMarked = (id: string) => spreadId(id) === id;

describe('a list that is spread once it is large', () => {
  let environment: Environment;
  let records: Records;
  const list: SpreadList = spreadList('LISTED');

  /** The table as another process sees it, which knows nothing yet. */
  const process = (): Records =>
    tableWriter(dynamoDb(environment), 'records', environment['RECORDS_TABLE'] ?? '');

  beforeEach(async () => {
    environment = await testEnvironment();
    records = process();
  });

  const row = (id: string): Write => ({ put: { ...list.keyOf(id), record_type: 'row', schema_version: 0 } });

  async function add(table: Records, at: number): Promise<string> {
    const id = await list.newId(table, ulid(first + at).toLowerCase());
    await table.write(row(id));
    return id;
  }

  async function fill(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, index) => ulid(first + index).toLowerCase());
    for (let from = 0; from < ids.length; from += 100)
      await records.write(...ids.slice(from, from + 100).map(row));
    return ids;
  }

  async function listed(table: Records, limit = 1000): Promise<string[]> {
    const ids: string[] = [];
    let after: string | undefined;
    do {
      const page = await list.newest(table, { limit, after });
      ids.push(...page.items.map(({ sk }) => sk));
      after = page.next;
    } while (after !== undefined);
    return ids;
  }

  /** Adds rows until the list has been spread; returns their ids. */
  async function addUntilSpread(table: Records, from: number): Promise<string[]> {
    const ids: string[] = [];
    do ids.push(await add(table, from + ids.length));
    while (!isMarked(ids.at(-1) ?? '') && ids.length < 2000);
    return ids;
  }

  test('is one query and one look while it is small, and a pass over it as well', async () => {
    await fill(50);
    const asked: string[] = [];
    const counting: Records = {
      ...records,
      query: (query) => {
        asked.push(`query ${query.pk}`);
        return records.query(query);
      },
      get: (key) => {
        asked.push(`get ${key.pk}`);
        return records.get(key);
      },
    };
    const { items, next } = await list.newest(counting, { limit: 100, after: undefined });
    expect([items.length, next, asked.sort()]).toEqual([50, undefined, ['get LISTS', 'query LISTED']]);
    asked.length = 0;
    const watched = { table: 'records', partitions: list.partitions, isSpread } as const;
    const page = await readWatched(counting, watched, ({ sk }) => sk, undefined, 100);
    expect([page.items.length, page.next, asked]).toEqual([50, undefined, ['query LISTED', 'get LISTS']]);
    await scheduleNextPass(counting, watched);
    expect(await records.count('LISTED', 1000)).toBe(50);
  });

  test('stays in one partition below a thousand rows, whoever asks', async () => {
    await fill(large - 1);
    for (let sample = 0; sample < 300; sample += 1) {
      const id = ulid(first + large + sample).toLowerCase();
      expect(await list.newId(records, id)).toBe(id);
    }
  });

  test('is spread soon after that, and keeps every row in its order', async () => {
    const before = await fill(large);
    const after = await addUntilSpread(records, large);
    expect(after.length).toBeLessThan(2000);
    expect(after.filter(isMarked)).toHaveLength(1);
    // A process that has just seen it unspread adds to the first partition, which is read as well.
    const all = [...before, ...after].sort().reverse();
    for (const limit of [1000, 97]) expect(await listed(process(), limit)).toEqual(all);
    const next = await add(process(), 5000);
    expect(isMarked(next)).toBe(true);
    expect((await listed(records))[0]).toBe(next);
  });

  test('is as it was where the step that spreads it fails, and where a process dies behind it', async () => {
    const before = await fill(large);
    const broken: Records = { ...records, write: () => Promise.reject(new Error('the table is away')) };
    const ask = async () => {
      for (let tries = 0; tries < 2000; tries += 1)
        await list.newId(broken, ulid(first + large + tries).toLowerCase());
    };
    await expect(ask()).rejects.toThrow('the table is away');
    expect(await listed(records)).toEqual([...before].reverse());
    await spreadLists(records);
    expect(await listed(process())).toEqual([...before].reverse());
  });

  test('shows every row that was acknowledged, whoever adds and spreads meanwhile', async () => {
    const stored = await fill(300);
    const acknowledged = new Set<string>();
    let isOver = false;
    const writers = [0, 1, 2].map(async (writer) => {
      const table = process();
      for (let round = 0; round < 60; round += 1) {
        const id = await add(table, 1000 + round * 7 + writer);
        acknowledged.add(id);
        if (round === 30 && writer === 0) await spreadLists(table);
      }
    });
    const readers = [0, 1].map(async (reader) => {
      const table = process();
      let marked = 0;
      let isLast: boolean;
      do {
        isLast = isOver;
        const expected = [...stored, ...acknowledged];
        const found = await listed(table, reader === 0 ? 1000 : 45);
        expect(found).toEqual([...new Set(found)].sort().reverse());
        const seen = new Set(found);
        expect(expected.filter((id) => !seen.has(id))).toEqual([]);
        marked = found.filter(isMarked).length;
      } while (!isLast);
      return marked;
    });
    await Promise.all(writers);
    isOver = true;
    for (const marked of await Promise.all(readers)) expect(marked).toBeGreaterThan(0);
    expect(acknowledged.size).toBe(180);
  });

  test('pages as one sorted list, whatever lies where and however long its pages are', async () => {
    const ids = fc.uniqueArray(fc.record({ at: fc.nat(2000), isFirst: fc.boolean() }), {
      minLength: 1,
      maxLength: 80,
      selector: ({ at }) => at,
    });
    await fc.assert(
      fc.asyncProperty(ids, fc.boolean(), fc.integer({ min: 1, max: 100 }), async (drawn, spread, limit) => {
        environment = await testEnvironment();
        records = process();
        if (spread) await spreadLists(records);
        const rows = drawn.map(({ at, isFirst }) => {
          const plain = ulid(first + at).toLowerCase();
          return isFirst || !spread ? plain : spreadId(plain);
        });
        await records.write(...rows.map(row));
        expect(await listed(process(), limit)).toEqual(rows.sort().reverse());
      }),
      { numRuns: runs(40) },
    );
  });
});
