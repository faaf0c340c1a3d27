import { describe, expect, test } from 'vitest';
import { progressAxis, timeUnit, valueAxis } from '../../../../shared/drawing/chart-axis.ts';
import { spreadLabels } from '../../../../shared/drawing/metric-chart/render-metric-chart.ts';
import { valueText } from '../../../../shared/drawing/number-text.ts';
import fc from '../../../support/seeded-fast-check.ts';

test.each([
  [0, '0'],
  [0.97216, '0.9722'],
  [-0.5, '−0.5'],
  [12, '12'],
  [180_783.4, '180,783'],
  [-10_074, '−10,074'],
  [1.5e8, '1.5e8'],
  [0.00002, '2e−5'],
  [1.79e308, '1.79e308'],
])('%d reads %s', (value, text) => {
  expect(valueText(value)).toBe(text);
});

const labels = (axis: { ticks: readonly { label: string }[] }) => axis.ticks.map(({ label }) => label);

describe('axes', () => {
  test('of values are rounded outwards to ticks', () => {
    const axis = valueAxis([0.513, 0.972], [200, 0], 5);
    expect(labels(axis)).toEqual(['0.5', '0.6', '0.7', '0.8', '0.9', '1.0']);
    expect([axis.place(0.5), axis.place(1)]).toEqual([200, 0]);
  });

  test('are logarithmic where positive values span three powers of ten, and only there', () => {
    const axis = valueAxis([0.000002, 0.01], [200, 0], 5);
    expect(axis.isLogarithmic).toBe(true);
    expect(labels(axis)).toContain('0.001');
    expect(valueAxis([0, 0.01], [200, 0], 5).isLogarithmic).toBe(false);
    expect(valueAxis([-5, 10_000], [200, 0], 5).isLogarithmic).toBe(false);
  });

  test('of steps have no ticks between whole steps', () => {
    expect(labels(progressAxis([1, 2, 3], [0, 600], 8))).toEqual(['1', '2', '3']);
    expect(labels(progressAxis([7, 7], [0, 600], 8))).toEqual(['7']);
  });

  test('place any numbers within their range', () => {
    const values = fc.array(fc.double({ min: -1e300, max: 1e300, noNaN: true }), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(values, (some) => {
        for (const axis of [valueAxis(some, [200, 0], 4), progressAxis(some, [0, 200], 4)]) {
          for (const value of some) {
            expect(axis.place(value)).toBeGreaterThanOrEqual(-0.001);
            expect(axis.place(value)).toBeLessThanOrEqual(200.001);
          }
          expect(axis.ticks.length).toBeLessThan(40);
          expect(labels(axis).every((label) => label.length < 16 && !label.includes('NaN'))).toBe(true);
        }
      }),
    );
  });

  test('of time are read in a unit that suits them', () => {
    expect([179, 180, 10_800].map((seconds) => timeUnit(seconds).name)).toEqual([
      'seconds',
      'minutes',
      'hours',
    ]);
  });
});

test('labels move apart and stay inside', () => {
  expect(spreadLabels([50, 10, 52], 12, 0, 100)).toEqual([50, 10, 62]);
  expect(spreadLabels([100, 100, 99], 12, 0, 100)).toEqual([88, 100, 76]);
  expect(spreadLabels([0, 0], 12, 0, 100)).toEqual([0, 12]);
});
