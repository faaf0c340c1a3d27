import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Read what `test/fixtures/sweeps/make-fixtures.py` has written. */
export async function fixture<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(join(import.meta.dirname, '../../../fixtures/sweeps', name), 'utf8'));
}
