import { expect, test } from 'vitest';
import { codeLengths } from '../../../shared/pictures/webp/code-lengths.ts';
import fc from '../../support/seeded-fast-check.ts';

const kraft = (lengths: Uint8Array) =>
  lengths.reduce((sum, length) => sum + (length === 0 ? 0 : 2 ** -length), 0);

test('a Huffman code is as short as can be', () => {
  expect([...codeLengths([45, 13, 12, 16, 9, 5], 15)]).toEqual([1, 3, 3, 3, 4, 4]);
});

test('symbols that never occur have no code, and a single one has length 1', () => {
  expect([...codeLengths([0, 0, 0], 15)]).toEqual([0, 0, 0]);
  expect([...codeLengths([0, 9, 0], 15)]).toEqual([0, 1, 0]);
});

test('every code is complete and within its limit', () => {
  const counts = fc.array(fc.integer({ min: 0, max: 2 ** 30 }), { minLength: 2, maxLength: 120 });
  fc.assert(
    fc.property(counts, (given) => {
      const lengths = codeLengths(given, 7);
      expect(Math.max(...lengths)).toBeLessThanOrEqual(7);
      expect([...lengths].map((length) => length > 0)).toEqual(given.map((count) => count > 0));
      const used = given.filter((count) => count > 0).length;
      if (used > 1) expect(kraft(lengths)).toBe(1);
    }),
  );
});

test('counts that grow like Fibonacci numbers are cut to the limit', () => {
  const counts = [1, 1];
  while (counts.length < 40) counts.push((counts.at(-1) ?? 0) + (counts.at(-2) ?? 0));
  const lengths = codeLengths(counts, 15);
  expect(Math.max(...lengths)).toBe(15);
  expect(kraft(lengths)).toBe(1);
});
