import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixtureFiles, loadFixture, root, serviceWithRecords } from './fixture-records.ts';
import { readers } from './readers.ts';

/** Written alone, and compared by the store itself. */
const neverRead = ['environment-builder'];

describe('a record that an older release wrote', () => {
  test.each(fixtureFiles)('is read: %s', async (file) => {
    const [version = '', name = ''] = file.split('/');
    const { item, reads } = await loadFixture(file);
    expect(item).toMatchObject({ record_type: name.replace('.json', ''), schema_version: Number(version) });
    const read = readers[name.replace('.json', '')];
    expect(await read?.(await serviceWithRecords(version), item)).toMatchObject(reads as object);
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
    const tables = await serviceWithRecords('0');
    const { table, item } = await loadFixture(file);
    await tables[table].write({ put: { ...item, schema_version: 99 } });
    const read = readers[String(item['record_type'])];
    await expect(read?.(tables, item)).rejects.toThrow(/schema version 99 is newer than \d/);
  },
);
