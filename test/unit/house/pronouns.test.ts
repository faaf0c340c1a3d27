import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** Declarations of words that name nothing, such as `one`. These numbers only shrink: lower one when you rename. */
const ceilings = {
  one: 402,
  found: 345,
  place: 121,
  own: 144,
  wanted: 100,
  given: 107,
  other: 55,
  made: 68,
  asked: 45,
};

test('words that name nothing are declared no more often than before', async () => {
  const files = await Array.fromAsync(glob('{functions,shared,infra,cli}/**/*.{ts,tsx}', { cwd: root }));
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  const counts = Object.keys(ceilings).map((word) => {
    // A variable, a parameter with a type, and the parameters of an arrow function.
    const declaration = new RegExp(
      String.raw`\b(?:const|let)\s+${word}\b|\(\s*${word}\??:\s|\b${word}\s*=>|\(\s*(?:\w+\s*,\s*)?${word}(?:\s*,\s*\w+)?\s*\)\s*=>`,
      'g',
    );
    return [word, texts.reduce((sum, text) => sum + [...text.matchAll(declaration)].length, 0)] as const;
  });

  expect(files.length).toBeGreaterThan(1000);
  expect(counts.filter(([word, count]) => count > ceilings[word as keyof typeof ceilings])).toEqual([]);
});
