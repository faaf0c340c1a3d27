import { expect, test } from 'vitest';
import { packColumns, unpackColumns } from '../../../shared/data/packed/packed-columns.ts';
import fc from '../../support/seeded-fast-check.ts';

const odd = fc.constantFrom(
  Number.NaN,
  -0,
  Number.POSITIVE_INFINITY,
  Number.MIN_VALUE,
  1e308,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
);
const column = fc.oneof(
  fc.array(fc.integer()),
  fc.array(fc.oneof(fc.double(), odd)),
  fc.array(fc.maxSafeInteger()),
);

test('columns survive packing, number by number', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(column, { maxLength: 4 }), (json, columns) => {
      const numbers = columns.map((values) => Float64Array.from(values));
      const read = unpackColumns(packColumns({ json, numbers }));
      expect(read.numbers.map((values) => [...values])).toEqual(columns);
      expect(JSON.stringify(read.json)).toBe(JSON.stringify(json));
    }),
  );
});

test('whole numbers that grow steadily take next to nothing', () => {
  const steps = Float64Array.from({ length: 10_000 }, (_, index) => 7 + 3 * index);
  expect(packColumns({ json: null, numbers: [steps] }).length).toBeLessThan(200);
});

test('numbers that no packing shortens survive on both sides of the few bytes that zstd has settings for', () => {
  for (const length of [1, 100, 2040, 2047, 2060, 40_000]) {
    const noise = Float64Array.from({ length }, (_, index) => Math.sin(index ** 2) * 1e-3);
    const packed = packColumns({ json: 'noise', numbers: [noise] });
    expect(unpackColumns(packed).numbers).toEqual([noise]);
    expect(packed.length).toBeLessThan(noise.byteLength + 200);
  }
});
