import { expect, test } from 'vitest';
import { type ChartPoint, thinOut } from '../../../../shared/drawing/metric-chart/metric-series.ts';
import fc from '../../../support/seeded-fast-check.ts';

const points = fc.array(
  fc.record({
    x: fc.double({ min: -1e300, max: 1e300, noNaN: true }),
    y: fc.double({ min: -1e300, max: 1e300, noNaN: true }),
  }),
  {
    minLength: 1,
    maxLength: 300,
  },
);
const lowest = (some: readonly ChartPoint[]) => Math.min(...some.map(({ y }) => y));
const highest = (some: readonly ChartPoint[]) => Math.max(...some.map(({ y }) => y));

test('keeps the ends, the lowest and the highest, and no more than it may', () => {
  fc.assert(
    fc.property(points, fc.integer({ min: 4, max: 50 }), (all, most) => {
      const kept = thinOut(all, most);
      const sorted = all.toSorted((one, other) => one.x - other.x);
      expect(kept.length).toBeLessThanOrEqual(most);
      expect([kept[0]!.x, kept.at(-1)!.x]).toEqual([sorted[0]!.x, sorted.at(-1)!.x]);
      expect([lowest(kept), highest(kept)]).toEqual([lowest(all), highest(all)]);
      expect(kept.every((place, index) => index === 0 || place.x >= kept[index - 1]!.x)).toBe(true);
    }),
  );
});

test('keeps a spike among a million, wherever it is', () => {
  const all = Array.from({ length: 1_000_000 }, (_, x) => ({ x, y: x === 654_321 ? 9 : 0 }));
  const kept = thinOut(all, 1000);
  expect(kept.length).toBeLessThanOrEqual(1000);
  expect(kept).toContainEqual({ x: 654_321, y: 9 });
});

test('a short line stays whole, put in order', () => {
  expect(
    thinOut(
      [
        { x: 2, y: 1 },
        { x: 1, y: 5 },
        { x: 2, y: 0 },
      ],
      1000,
    ),
  ).toEqual([
    { x: 1, y: 5 },
    { x: 2, y: 1 },
    { x: 2, y: 0 },
  ]);
});
