import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { allSummaries, withPoints } from '../../../shared/data/metrics/metric-summaries.ts';
import {
  comparePoints,
  type MetricPoint,
  type MetricSummary,
  packSummaries,
  unpackSummaries,
  withPoint,
} from '../../../shared/data/metrics/metric-summary.ts';
import fc from '../../support/seeded-fast-check.ts';

const timeOf = (second: number) => 1_770_000_000_000 + second * 1000;
const value = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e308, -0, 5e-324),
);
const point: fc.Arbitrary<MetricPoint> = fc.record({
  name: fc.constantFrom('loss', 'accuracy', '__proto__', 'a/"b"'),
  value,
  step: fc.option(fc.integer({ min: 0, max: 3 })),
  time: fc.integer({ min: 0, max: 3 }).map(timeOf),
});

const summaryOf = (points: readonly MetricPoint[]): MetricSummary | undefined =>
  points.reduce<MetricSummary | undefined>(withPoint, undefined);

describe('the summary of a metric', () => {
  test('is that of all its points, in whatever order they come', () => {
    fc.assert(
      fc.property(fc.array(point, { minLength: 1, maxLength: 12 }), (points) => {
        const { last, min, max, step, time, count } = summaryOf(points)!;
        const greatest = points.toSorted(comparePoints).at(-1)!;
        const numbers = points.map((one) => one.value).filter((one) => !Number.isNaN(one));
        expect(comparePoints({ value: last, step, time }, greatest)).toBe(0);
        expect(count).toBe(points.length);
        const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
        expect([min, max].map((one) => one + 0)).toEqual(
          numbers.length === 0 ? [Number.NaN, Number.NaN] : [least + 0, most + 0],
        );
      }),
    );
  });

  test('orders points totally', () => {
    fc.assert(
      fc.property(point, point, point, (a, b, c) => {
        expect(Math.sign(comparePoints(a, b))).toBe(0 - Math.sign(comparePoints(b, a)));
        if (comparePoints(a, b) <= 0 && comparePoints(b, c) <= 0)
          expect(comparePoints(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });

  test('survives storage', () => {
    fc.assert(
      fc.property(fc.array(point, { maxLength: 20 }), (points) => {
        const summaries = allSummaries(withPoints([], points).parts);
        expect(unpackSummaries(packSummaries(summaries))).toEqual(summaries);
      }),
    );
  });

  test('of a release without columns is read', () => {
    const time = timeOf(1);
    const rows = [
      ['loss', 'NaN', 1, 1e308, null, time, 3],
      ['a/"b"', 2, 2, 2, 7, time, 1],
    ];
    expect(unpackSummaries(gzipSync(JSON.stringify(rows)))).toEqual(
      new Map([
        ['loss', { last: Number.NaN, min: 1, max: 1e308, step: null, time, count: 3 }],
        ['a/"b"', { last: 2, min: 2, max: 2, step: 7, time, count: 1 }],
      ]),
    );
  });
});

describe('the summaries of an experiment', () => {
  const named = (count: number, from = 0): MetricPoint[] =>
    Array.from({ length: count }, (_, index) => ({
      name: `metric ${from + index}`,
      value: index,
      step: null,
      time: timeOf(0),
    }));

  test('are parts of a thousand names, and a batch changes those that it has names of', () => {
    const first = withPoints([], named(2500));
    expect(first.parts.map(({ summaries }) => summaries.size)).toEqual([1000, 1000, 500]);
    const next = withPoints(first.parts, [...named(1, 1500), ...named(2, 2499)]);
    expect([...next.changed].sort()).toEqual([1, 2]);
    expect(next.parts.map(({ summaries, version }) => [summaries.size, version])).toEqual([
      [1000, 1],
      [1000, 2],
      [501, 2],
    ]);
  });

  test('have no room for more than 10,000 names, whose points still count', () => {
    const full = withPoints([], named(10_000));
    const { parts, omitted } = withPoints(full.parts, [...named(1), ...named(2, 10_000)]);
    expect([...omitted]).toEqual(['metric 10000', 'metric 10001']);
    expect(allSummaries(parts).get('metric 0')?.count).toBe(2);
    expect(allSummaries(parts).size).toBe(10_000);
  });
});
