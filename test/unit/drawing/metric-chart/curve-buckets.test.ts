import { describe, expect, test } from 'vitest';
import { CurveBuckets } from '../../../../shared/drawing/metric-chart/curve-buckets.ts';
import fc from '../../../support/seeded-fast-check.ts';

const value = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 1e308),
);
const points = fc.array(
  fc.tuple(fc.oneof(fc.integer({ min: -20, max: 200 }), fc.double({ min: 0, max: 1, noNaN: true })), value),
  { minLength: 1, maxLength: 120 },
);

const thinned = (given: readonly (readonly [number, number])[], most: number) => {
  const buckets = new CurveBuckets(most);
  for (const [index, [x, y]] of given.entries()) buckets.add(x, y, index, x, index);
  return buckets.points();
};

describe('a curve that is thinned out', () => {
  test('keeps its first, last, lowest and highest point, and no more than it may', () => {
    fc.assert(
      fc.property(points, fc.integer({ min: 6, max: 40 }), (given, most) => {
        const kept = thinned(given, most);
        expect(kept.length).toBeLessThanOrEqual(most);
        if (given.length <= most) expect(kept).toHaveLength(given.length);
        for (const { index, x, y } of kept) expect([x, y]).toEqual(given[index]);
        const xs = given.map(([x]) => x);
        expect([kept[0]!.x, kept.at(-1)!.x]).toEqual([Math.min(...xs), Math.max(...xs)]);
        const numbers = (ys: number[]) => ys.filter((y) => !Number.isNaN(y)).map((y) => y + 0);
        const [all, seen] = [numbers(given.map(([, y]) => y)), numbers(kept.map(({ y }) => y))];
        expect([Math.min(...seen), Math.max(...seen)]).toEqual([Math.min(...all), Math.max(...all)]);
        expect(kept.map(({ x }) => x)).toEqual(kept.map(({ x }) => x).toSorted((one, other) => one - other));
      }),
    );
  });

  test('shows every spike, in whatever order its points come', () => {
    const spikes = new Set([3000, 50_001, 99_990]);
    const given = Array.from(
      { length: 100_000 },
      (_, step) => [step, spikes.has(step) ? 9 : Math.sin(step / 1000)] as const,
    );
    for (const order of [given, given.toReversed()]) {
      const kept = thinned(order, 1000);
      expect(kept.length).toBeGreaterThan(400);
      expect(kept.filter(({ y }) => y === 9).map(({ x }) => x)).toEqual([...spikes]);
    }
  });
});
