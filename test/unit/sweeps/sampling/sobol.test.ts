import { expect, test } from 'vitest';
import { sobolInteger, sobolShare } from '../../../../shared/sweeps/sampling/sobol.ts';
import { fixture } from './fixture.ts';

test("the points are those of SciPy's Sobol sequence in 100 dimensions", async () => {
  const { first, 12345: later } = await fixture<{ first: number[][]; 12345: number[] }>('sobol.json');
  const pointOf = (point: number) => Array.from({ length: 100 }, (_, at) => sobolInteger(point, at));

  expect(first.map((_, point) => pointOf(point))).toEqual(first);
  expect(pointOf(12_345)).toEqual(later);
});

test('scrambled points have one point in each interval, whatever its size', () => {
  for (const size of [4, 64, 1024]) {
    for (const dimension of [0, 1, 5, 99]) {
      const shares = Array.from({ length: size }, (_, point) => sobolShare(point, dimension, '7/lr'));

      expect(new Set(shares.map((share) => Math.floor(share * size))).size).toBe(size);
    }
  }
});

test('scrambled points of two dimensions have one point in each box of a 16th by a 16th', () => {
  const boxes = Array.from({ length: 256 }, (_, point) => {
    const [x, y] = [sobolShare(point, 0, '7/a'), sobolShare(point, 1, '7/b')];
    return Math.floor(x * 16) * 16 + Math.floor(y * 16);
  });

  expect(new Set(boxes).size).toBe(256);
});

test('the scrambling of a key is uniform: the first point lies anywhere', () => {
  const first = Array.from({ length: 4000 }, (_, seed) => sobolShare(0, 3, `${seed}/lr`));

  const counts = Map.groupBy(first, (share) => Math.floor(share * 20));

  expect(counts.size).toBe(20);
  for (const group of counts.values()) expect(Math.abs(group.length - 200)).toBeLessThan(70);
});
