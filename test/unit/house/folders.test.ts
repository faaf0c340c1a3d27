import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { filesByFolder, readProductFiles } from '../../proofs/house/figures.ts';
import { sidewaysImports } from '../../proofs/house/imports.ts';

const root = join(import.meta.dirname, '../../..');
let texts: Map<string, string>;
let folders: [folder: string, files: string[]][];
beforeAll(async () => {
  texts = await readProductFiles(root);
  folders = [...filesByFolder(texts.keys())];
});

test('a folder holds at most 20 files of its own', () => {
  const crowded = folders.filter(([, files]) => files.length > 20);
  expect(crowded.map(([folder, { length }]) => `${folder}: ${length}`)).toEqual([]);
});

test('a resource of functions imports no code of another', () => {
  expect(sidewaysImports(texts)).toEqual([]);
});

test('no two files of a folder have names of the same words', () => {
  const sortedWords = (path: string) => basename(path).split('.')[0]?.split('-').toSorted().join(' ') ?? '';
  const pairs = folders.flatMap(([, files]) => {
    const byWords = Map.groupBy(files, sortedWords);
    return [...byWords.values()].filter(
      (same) => new Set(same.map((path) => basename(path).split('.')[0])).size > 1,
    );
  });
  expect(pairs).toEqual([]);
});

test('limits are named max… and min…', () => {
  const names = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/\bexport (?:const|function|class) (\w+(?:Most|Least))\b/g)].map(
      ([, name]) => `${path}: ${name}`,
    ),
  );
  expect(names).toEqual([]);
});
