import { expect, test } from 'vitest';
import {
  curvatureOf,
  firstToLast,
  largestFirst,
} from '../../../../../shared/onnx/methods/calibrate/curvature.ts';

test('a moment of values that are not finite has no curvature, one of rank 1 has', () => {
  expect(curvatureOf(Float64Array.of(1, Number.NaN, Number.NaN, 1), 2, firstToLast)).toBeUndefined();
  expect(curvatureOf(Float64Array.of(Number.NaN, 0, 0, 1), 2, firstToLast)).toBeUndefined();
  expect(curvatureOf(Float64Array.of(1, 1, 1, 1), 2, firstToLast)).toMatchObject({ channels: 2 });
});

test('an input that was always zero counts as one of mean size, and changes the damping of no other', () => {
  const found = curvatureOf(Float64Array.of(2, 0, 0, 0, 0, 0, 0, 0, 4), 3, largestFirst);
  expect(found?.diagonal).toEqual(Float64Array.of(2, 2, 4));
  expect(found?.order).toEqual(Uint32Array.of(2, 0, 1));
  const expected = [4.02, 2.02, 2.02].map((size) => 1 / Math.sqrt(size));
  for (const [at, size] of expected.entries()) expect(found?.factor[at * 4]).toBeCloseTo(size, 12);
});

test('inputs that were all zero have no curvature', () => {
  expect(curvatureOf(new Float64Array(4), 2, largestFirst)).toBeUndefined();
});
