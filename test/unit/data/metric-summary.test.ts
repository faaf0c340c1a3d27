import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { allSummaries, withPoints } from '../../../shared/data/metrics/metric-summaries.ts';
import {
  comparePoints,
  type MetricPoint,
  type MetricSummary,
  packSummaries,
  sparklineStride,
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
  points.reduce<MetricSummary | undefined>((summary, one) => withPoint(summary, one), undefined);

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

  test.each([1, 2, 24, 25, 48, 49, 1_000])('keeps at most 24 values of %i at equal distances', (count) => {
    const points = Array.from({ length: count }, (_, step) => ({
      name: 'loss',
      value: step,
      step,
      time: step,
    }));

    const { sparkline = [] } = allSummaries(withPoints([], points).parts).get('loss') ?? {};

    expect(sparkline.length).toBeGreaterThan(Math.min(count, 12) - 1);
    expect(sparkline.length).toBeLessThanOrEqual(24);
    expect(sparkline).toEqual(sparkline.map((_, at) => at * sparklineStride(count)));
  });

  test('has a sparkline of the first 16 metrics of the model, also in an item that is full', () => {
    const names = ['system/cpu', ...Array.from({ length: 20 }, (_, at) => `m${at}`)];
    const points = names.map((name) => ({ name, value: 0.1, step: 0, time: 0 }));

    const kept = unpackSummaries(packSummaries(allSummaries(withPoints([], points).parts)));

    const drawn = [...kept].filter(([, { sparkline }]) => sparkline !== undefined).map(([name]) => name);
    expect(drawn).toEqual(names.slice(1, 17));
    expect(kept.get('m0')?.sparkline).toEqual([Math.fround(0.1)]);
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
