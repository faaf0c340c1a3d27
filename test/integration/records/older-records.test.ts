import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixtureFiles, loadFixture, root, serviceWithRecords } from './fixture-records.ts';
import { readers } from './readers.ts';

/**
 * Written alone: the store compares one, and the expiry of another is what is used of it; of a warm model, its key. An audit
 * record can only be appended, so these tests cannot put one again and again (`audit/list-audit.test.ts` reads one of the first).
 */
const neverRead = ['audit', 'environment-builder', 'retention-clock', 'used-assertion', 'warm-model'];

const services = new Map<string, ReturnType<typeof serviceWithRecords>>();
/** One for each version, shared: each test puts the record that it reads. */
function serviceOf(version: string) {
  const service = services.get(version) ?? serviceWithRecords(version);
  services.set(version, service);
  return service;
}

describe('a record that an older release wrote', () => {
  test.each(fixtureFiles)('is read: %s', async (file) => {
    const [version = '', name = ''] = file.split('/');
    const { table, item, reads } = await loadFixture(file);
    expect(item).toMatchObject({ record_type: name.replace('.json', ''), schema_version: Number(version) });
    const tables = await serviceOf(version);
    await tables[table].write({ put: item });
    const read = readers[name.replace('.json', '')];
    expect(await read?.(tables, item)).toMatchObject(reads as object);
  });

  test('is among the fixtures, whatever its kind', async () => {
    const sources = await Array.fromAsync(glob('shared/data/**/*.ts', { cwd: root }));
    const texts = await Promise.all(sources.map((source) => readFile(join(root, source), 'utf8')));
    const kinds = texts.flatMap((text) =>
      [...text.matchAll(/recordType\(\s*'([a-z-]+)'/g)].map(([, kind]) => kind ?? ''),
    );
    expect(kinds.length).toBeGreaterThan(25);
    const missing = kinds.filter(
      (kind) => !fixtureFiles.includes(`0/${kind}.json`) && !neverRead.includes(kind),
    );
    expect(missing).toEqual([]);
  });
});

test.each(fixtureFiles.filter((file) => file.startsWith('0/')))(
  'a record of a newer release is refused by name: %s',
  async (file) => {
    const tables = await serviceOf('0');
    const { table, item } = await loadFixture(file);
    await tables[table].write({ put: { ...item, schema_version: 99 } });
    const read = readers[String(item['record_type'])];
    await expect(read?.(tables, item)).rejects.toThrow(/schema version 99 is newer than \d/);
    await tables[table].write({ put: item });
  },
);
