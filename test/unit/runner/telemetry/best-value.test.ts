import { expect, test } from 'vitest';
import { BestValue } from '../../../../shared/runner/telemetry/best-value.ts';
import { experimentOf } from '../../../support/experiment.ts';

const time = '2026-01-02T03:04:05.000Z';
const point = (value: number, step: number | null) => ({ name: 'accuracy', value, step, time });

test('the best value is the greatest that the table takes', () => {
  const best = new BestValue(experimentOf('project', null));
  expect(best.take([point(0.5, 1), point(0.7, 2), point(0.6, 3)])).toBe(true);
  expect(best.take([point(0.7, 4), { ...point(0.9, 4), name: 'loss' }])).toBe(false);
  expect(best.value).toEqual({ criterion: 'accuracy', value: 0.7, step: 2 });
});

test.each([2 ** 53, 1e308, 5e-324, -(2 ** 53)])(
  'a value that the table refuses is not the best: %s',
  (value) => {
    const best = new BestValue(experimentOf('project', null));
    expect(best.take([point(value, 1)])).toBe(false);
    expect(best.value).toBeNull();
  },
);

test('a step that the table refuses is none', () => {
  const best = new BestValue(experimentOf('project', null));
  best.take([point(0.5, 1e300)]);
  expect(best.value).toEqual({ criterion: 'accuracy', value: 0.5, step: null });
});
