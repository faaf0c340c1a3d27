import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

const rules = {
  'line-length': 140,
  'target-version': 'py38',
  lint: { select: ['E', 'F', 'W', 'B'], ignore: ['B905'] },
};

test("the product's Python passes its linter", async () => {
  const workspace = new Workspace(rules, PositionEncoding.Utf16);
  const files = await Array.fromAsync(glob('{shared,cli}/**/*.py', { cwd: root }));

  const faults: string[] = [];
  for (const file of files) {
    const found: { start_location: { row: number }; code: string; message: string }[] = workspace.check(
      await readFile(join(root, file), 'utf8'),
    );
    faults.push(
      ...found.map(({ start_location, code, message }) => `${file}:${start_location.row} ${code} ${message}`),
    );
  }

  expect(files.length).toBeGreaterThan(20);
  expect(faults).toEqual([]);
});
