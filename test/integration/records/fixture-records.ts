import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Item } from '../../../shared/data/table/table.ts';
import { testService } from '../../support/service.ts';
import type { Tables } from './readers.ts';

/** A record as a release wrote it, of a kind and schema version, with what that release read of it. */
export interface Fixture {
  table: keyof Tables;
  item: Item;
  reads: unknown;
}

export const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'test/fixtures/records');
/** Folders bear the schema version, files the kind. What a release wrote never changes, so neither do they. */
export const fixtureFiles = (await Array.fromAsync(glob('*/*.json', { cwd: folder }))).sort();

const bytesOf = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && '$bytes' in value
    ? new Uint8Array(Buffer.from(String(value.$bytes), 'base64'))
    : value;

export async function loadFixture(file: string): Promise<Fixture> {
  return JSON.parse(await readFile(join(folder, file), 'utf8'), bytesOf);
}

/** A service that holds everything that was written in this schema version. */
export async function serviceWithRecords(version: string) {
  const service = await testService();
  const files = fixtureFiles.filter((name) => name.startsWith(`${version}/`));
  const fixtures = await Promise.all(files.map(loadFixture));
  for (const name of ['accounts', 'records'] as const) {
    const puts = fixtures.filter(({ table }) => table === name).map(({ item }) => ({ put: item }));
    await service[name].write(...puts);
  }
  return service;
}
