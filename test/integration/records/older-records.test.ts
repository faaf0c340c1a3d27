import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Item } from '../../../shared/data/table.ts';
import { testService } from '../../support/service.ts';
import { readers, type Tables } from './readers.ts';

/** A record as a release wrote it, of a kind and schema version, with what that release read of it. */
interface Fixture {
  table: keyof Tables;
  item: Item;
  reads: unknown;
}

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'test/fixtures/records');
/** Folders bear the schema version, files the kind. What a release wrote never changes, so neither do they. */
const files = (await Array.fromAsync(glob('*/*.json', { cwd: folder }))).sort();
/** Written alone, and compared by the store itself. */
const neverRead = ['environment-builder'];

const bytesOf = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && '$bytes' in value
    ? new Uint8Array(Buffer.from(String(value.$bytes), 'base64'))
    : value;

async function load(file: string): Promise<Fixture> {
  return JSON.parse(await readFile(join(folder, file), 'utf8'), bytesOf);
}

/** Tables that hold everything that was written in this schema version. */
async function tablesOf(version: string): Promise<Tables> {
  const tables = await testService();
  for (const file of files.filter((name) => name.startsWith(`${version}/`))) {
    const { table, item } = await load(file);
    await tables[table].write({ put: item });
  }
  return tables;
}

describe('a record that an older release wrote', () => {
  test.each(files)('is read: %s', async (file) => {
    const [version = '', name = ''] = file.split('/');
    const { item, reads } = await load(file);
    expect(item).toMatchObject({ record_type: name.replace('.json', ''), schema_version: Number(version) });
    const read = readers[name.replace('.json', '')];
    expect(await read?.(await tablesOf(version), item)).toMatchObject(reads as object);
  });

  test('is among the fixtures, whatever its kind', async () => {
    const sources = await Array.fromAsync(glob('shared/data/*.ts', { cwd: root }));
    const texts = await Promise.all(sources.map((source) => readFile(join(root, source), 'utf8')));
    const kinds = texts.flatMap((text) =>
      [...text.matchAll(/recordType\(\s*'([a-z-]+)'/g)].map(([, kind]) => kind ?? ''),
    );
    expect(kinds.length).toBeGreaterThan(25);
    const missing = kinds.filter((kind) => !files.includes(`0/${kind}.json`) && !neverRead.includes(kind));
    expect(missing).toEqual([]);
  });
});

test.each(files.filter((file) => file.startsWith('0/')))(
  'a record of a newer release is refused by name: %s',
  async (file) => {
    const tables = await tablesOf('0');
    const { table, item } = await load(file);
    await tables[table].write({ put: { ...item, schema_version: 99 } });
    const read = readers[String(item['record_type'])];
    await expect(read?.(tables, item)).rejects.toThrow(/schema version 99 is newer than \d/);
  },
);
