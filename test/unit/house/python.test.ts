import { glob, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

const programRules = {
  'line-length': 140,
  'target-version': 'py38',
  lint: { select: ['E', 'F', 'W', 'B'], ignore: ['B905'] },
};

/** Lint the files of a pattern by these rules. */
async function lint(pattern: string, rules: object): Promise<{ files: string[]; faults: string[] }> {
  const workspace = new Workspace(rules, PositionEncoding.Utf16);
  const files = await Array.fromAsync(glob(pattern, { cwd: root }));
  const faults: string[] = [];
  for (const file of files) {
    const found: { start_location: { row: number }; code: string; message: string }[] = workspace.check(
      await readFile(join(root, file), 'utf8'),
    );
    faults.push(
      ...found.map(({ start_location, code, message }) => `${file}:${start_location.row} ${code} ${message}`),
    );
  }
  return { files, faults };
}

test("the product's Python passes its linter", async () => {
  const { files, faults } = await lint('{shared,cli}/**/*.py', programRules);

  expect(files.length).toBeGreaterThan(20);
  expect(faults).toEqual([]);
});

test('the package of Python passes its linter', async () => {
  const settings = await readFile(join(root, 'python/pyproject.toml'), 'utf8');
  const { ruff } = parse(settings)['tool'] as { ruff: object };

  const { files, faults } = await lint('python/**/*.py', ruff);

  expect(files.length).toBeGreaterThan(5);
  expect(faults).toEqual([]);
});

test('names that the programs of exports import from each other are defined there', async () => {
  const files = await Array.fromAsync(
    glob('{shared/exports/program,test/proofs/exports}/*.py', { cwd: root }),
  );
  const read = async (file: string): Promise<[string, string]> => [
    basename(file, '.py'),
    await readFile(join(root, file), 'utf8'),
  ];
  const texts = new Map(await Promise.all(files.map(read)));
  const missing: string[] = [];
  for (const [file, text] of texts)
    for (const [, module = '', names = ''] of text.matchAll(/^ *from (\w+) import ([\w, ]+)/gm)) {
      const source = texts.get(module);
      for (const name of names.split(',').map((part) => part.trim().split(' ')[0] ?? '')) {
        const definition = new RegExp(
          `^(?:(?:def|class) ${name}\\b|(?:\\w+, )*${name}(?:, \\w+)*(?:: [^=]+)? = )`,
          'm',
        );
        if (source !== undefined && !definition.test(source)) missing.push(`${file}: ${name} of ${module}`);
      }
    }

  expect(texts.size).toBeGreaterThan(15);
  expect(missing).toEqual([]);
});
