import { describe, expect, test } from 'vitest';
import { chartCsv } from '../../../functions/console/app/charts/chart-csv.ts';
import { bandPath, linePath } from '../../../functions/console/app/charts/drawing/svg-paths.ts';
import { meanCurve } from '../../../functions/console/app/charts/reading/mean-curve.ts';
import {
  aligned,
  lineOf,
  nearest,
  oddText,
  smoothed,
  stepsIn,
  thinned,
  usualRange,
} from '../../../functions/console/app/charts/series.ts';

const line = (xs: number[], ys: number[]) => ({ xs: Float64Array.from(xs), ys: Float64Array.from(ys) });

describe('a curve', () => {
  const curve = { steps: [3, 1, 2], times: [3000, 1000, 2000], values: [30, 10, 20] };

  test('rises by step, by time and by the seconds since its first point', () => {
    expect(lineOf(curve, 'step')).toEqual(line([1, 2, 3], [10, 20, 30]));
    expect(lineOf(curve, 'time').xs).toEqual(Float64Array.of(1, 2, 3));
    expect(lineOf(curve, 'relative').xs).toEqual(Float64Array.of(0, 1, 2));
  });

  test('thinned out keeps its least and greatest values', () => {
    const many = line(
      Array.from({ length: 100_000 }, (_, x) => x),
      Array.from({ length: 100_000 }, () => 0),
    );
    many.ys[12_345] = 7;
    many.ys[54_321] = -7;
    const { xs, ys } = thinned(many, 500);
    expect(xs.length).toBeLessThanOrEqual(1500);
    expect(Math.max(...ys)).toBe(7);
    expect(Math.min(...ys)).toBe(-7);
    expect([...xs]).toEqual([...xs].sort((a, b) => a - b));
  });

  test('thinned out in a range has every point of a narrow one', () => {
    const many = line(
      Array.from({ length: 10_000 }, (_, x) => x),
      Array.from({ length: 10_000 }, (_, x) => x),
    );
    expect([...thinned(many, 500, [100, 200]).xs]).toEqual(
      Array.from({ length: 102 }, (_, index) => 99 + index),
    );
  });
});

test('a curve by an epoch has its points at the latest epoch of their steps', () => {
  const loss = { steps: [0, 1, 2, 3], times: [0, 1, 2, 3], values: [4, 3, 2, 1] };
  const epoch = { steps: [1, 3], times: [1, 3], values: [0, 1] };

  expect(lineOf(loss, 'metrics.epoch', epoch)).toEqual(line([0, 0, 1], [3, 2, 1]));
  expect(lineOf(loss, 'metrics.epoch')).toEqual(line([], []));
  const unstepped = { ...loss, steps: [null, null, null, null] };
  expect(lineOf(unstepped, 'metrics.epoch', epoch)).toEqual(line([0, 0, 1], [3, 2, 1]));
});

test('a range without outliers has all but the least and the greatest values', () => {
  const values = Array.from({ length: 100 }, (_, index) => (index === 50 ? 1e6 : index / 100));
  const [low = 0, high = 0] = usualRange([line([...values.keys()], values)]) ?? [];

  expect([low > -0.1, low < 0.06, high < 1.1, high > 0.9]).toEqual([true, true, true, true]);
  expect(usualRange([line([0, 1], [1, 1e6])])).toBeUndefined();
});

describe('smoothing', () => {
  test('leaves a constant as it is, from the first value on', () => {
    for (const value of smoothed(Float64Array.of(2, 2, 2), 0.9)) expect(value).toBeCloseTo(2, 12);
  });

  test('keeps NaN where it is and does not spread it', () => {
    const [first, odd, last] = smoothed(Float64Array.of(1, Number.NaN, 1), 0.5);
    expect(first).toBe(1);
    expect(odd).toBeNaN();
    expect(last).toBeCloseTo(1, 12);
  });
});

test('lines of different steps share an axis: undefined is no point, null is a gap', () => {
  const { xs, ys } = aligned([line([1, 3], [1, Number.NaN]), line([2, 3], [5, 6])]);
  expect(xs).toEqual([1, 2, 3]);
  expect(ys).toEqual([
    [1, undefined, null],
    [undefined, 5, 6],
  ]);
});

test('the crosshair finds the nearest point, and none on a line without points', () => {
  const points = line([0, 10, 20], [1, 2, 3]);
  expect(nearest(points, 14)).toEqual({ x: 10, y: 2 });
  expect(nearest(points, 99)).toEqual({ x: 20, y: 3 });
  expect(nearest(line([], []), 1)).toBeUndefined();
});

test('the mean of curves is at each step of the runs that report there, with its deviation', () => {
  const one = { steps: [0, 1, 2], times: [100, 200, 300], values: [1, 2, Number.NaN] };
  const other = { steps: [0, 1], times: [1000, 1300], values: [3, 6] };

  const { mean, low, high } = meanCurve([one, other]);

  expect(mean).toEqual({ steps: [0, 1], times: [100, 300], values: [2, 4] });
  expect(high.values[1]).toBeCloseTo(4 + Math.sqrt(8), 12);
  expect(low.values[1]).toBeCloseTo(4 - Math.sqrt(8), 12);
});

test('paths of an SVG have gaps where a value is not finite, and a band closes each of its pieces', () => {
  const x = (value: number) => value * 10;
  const y = (value: number) => 100 - value;
  const low = line([0, 1, 2, 3, 4], [1, 2, Number.NaN, 4, 5]);
  const high = line([0, 1, 2, 3, 4], [3, 4, 5, 6, 7]);

  expect(linePath(low, x, y)).toBe('M0.0 99.0L10.0 98.0M30.0 96.0L40.0 95.0');
  expect(bandPath(low, high, x, y)).toBe(
    'M0.0 97.0L10.0 96.0L10.0 98.0L0.0 99.0ZM30.0 94.0L40.0 93.0L40.0 95.0L30.0 96.0Z',
  );
  expect(bandPath(line([0], [1]), line([0], [2]), x, y)).toBe('');
});

test('a part of a time axis lies between steps, with the points beside it', () => {
  const curve = { steps: [0, 10, 20, 30], times: [1_000, 2_000, 3_000, 4_000], values: [1, 2, 3, 4] };

  expect(stepsIn([{ curve }], 'relative', [0.9, 2.1])).toEqual([0, 30]);
  expect(stepsIn([{ curve }], 'relative', [1.9, 2])).toEqual([10, 20]);
  expect(stepsIn([{ curve }], 'time', [0, 1.5])).toEqual([0, 10]);
  expect(stepsIn([{ curve }], 'step', [3, 4])).toEqual([3, 4]);
  expect(stepsIn([{ curve }], 'metrics.epoch', [3, 4])).toBeUndefined();
});

test('the CSV of a chart has a column for each line, and its values as they were reported', () => {
  const lines = [
    { label: 'one, first', raw: line([0, 1], [0.1, Number.NaN]) },
    { label: '=two', raw: line([1, 2], [3, 4]) },
  ];

  expect(chartCsv({ axisName: 'step', lines })).toBe(
    'step,"one, first",\'=two\r\n0,0.1,\r\n1,NaN,3\r\n2,,4\r\n',
  );
});

test('values that no line can show are named by their kind, also those that are too large for an axis', () => {
  const { NaN: nan, POSITIVE_INFINITY: infinite } = Number;

  const texts = [[1, -2e-5], [nan, nan], [1, infinite, -infinite], [nan, 1e308], [-1e308]].map((ys) =>
    oddText([line([0, 1, 2].slice(0, ys.length), ys)]),
  );

  expect(texts).toEqual([undefined, '2 NaN', '2 infinite', '2 NaN or too large', '1 too large']);
  const { ys } = aligned([line([0, 1, 2], [1e308, 1, -1.5e308])]);
  expect(ys).toEqual([[null, 1, null]]);
});
