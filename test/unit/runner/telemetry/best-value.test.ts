import { describe, expect, test } from 'vitest';
import type { Experiment } from '../../../../shared/data/experiment.ts';
import { BestValue } from '../../../../shared/runner/telemetry/best-value.ts';
import { experimentOf } from '../../../support/experiment.ts';

const bestOf = (experiment: Partial<Experiment> = {}) =>
  new BestValue({ ...experimentOf('01h00000000000000000000000', null), ...experiment });
const at = (name: string, value: number, step = 0) => ({
  name,
  value,
  step,
  time: 1_770_000_000_000,
});

describe('the best value of a run', () => {
  test('is that of the metric which stands best for the criterion, once it is reported', () => {
    const best = bestOf();
    expect(best.take([at('accuracy', 0.9, 1), at('loss', 0.1)])).toBe(true);
    expect(best.value.best).toEqual({ criterion: 'accuracy', metric: 'accuracy', value: 0.9, step: 1 });
    // Training accuracy flatters: validation counts from now on, also where it is lower.
    best.take([at('val_acc', 0.6, 1), at('accuracy', 0.99, 2), at('val_accuracy', 0.95, 2)]);
    expect(best.value.best).toEqual({ criterion: 'accuracy', metric: 'val_acc', value: 0.6, step: 1 });
    expect(best.take([at('val_acc', 0.5, 3)])).toBe(false);
    expect(best.take([at('val_acc', 0.7, 4), at('test_acc', 0.8)])).toBe(true);
    expect(best.value.best).toMatchObject({ value: 0.7, step: 4 });
  });

  test('goes on with what an earlier attempt reached, also in an earlier release', () => {
    const before = { criterion: 'accuracy', value: 0.8, step: 3 };
    const best = bestOf({ best: before });
    expect(best.take([at('accuracy', 0.7)])).toBe(false);
    expect(best.take([at('test_accuracy', 0.99)])).toBe(false);
    expect(best.take([at('accuracy', 0.9, 9)])).toBe(true);
    expect(best.value.best).toMatchObject({ metric: 'accuracy', value: 0.9 });
  });

  test('follows the direction of a criterion that the project named', () => {
    const best = bestOf({ criterion: { name: 'latency', goal: 'minimize', own: true } });
    best.take([at('latency', 5), at('latency', 3), at('latency', 4), at('val_latency', 1)]);
    expect(best.value).toEqual({
      best: { criterion: 'latency', metric: 'latency', value: 3, step: 0 },
      metric_names: ['val_latency'],
    });
  });

  test('names what else was reported, a few names and not all of long ones', () => {
    const best = bestOf();
    expect(best.take([at('lr', 1)])).toBe(true);
    expect(best.take([at('lr', 2)])).toBe(false);
    best.take(Array.from({ length: 100 }, (_, index) => at(`${'x'.repeat(200)}${index}`, 1)));
    best.take(Array.from({ length: 100 }, (_, index) => at(`m${index}`, 1)));
    expect(best.value.best).toBeNull();
    expect(best.value.metric_names).toHaveLength(20);
    expect(Math.max(...best.value.metric_names.map(({ length }) => length))).toBe(64);
  });
});

const time = 1_770_000_000_000;
const point = (value: number, step: number | null) => ({ name: 'accuracy', value, step, time });

test('the best value is the greatest that the table takes', () => {
  const best = new BestValue(experimentOf('project', null));
  expect(best.take([point(0.5, 1), point(0.7, 2), point(0.6, 3)])).toBe(true);
  expect(best.take([point(0.7, 4), { ...point(0.9, 4), name: 'loss' }])).toBe(false);
  expect(best.value.best).toEqual({ criterion: 'accuracy', metric: 'accuracy', value: 0.7, step: 2 });
});

test.each([2 ** 53, 1e308, 5e-324, -(2 ** 53)])(
  'a value that the table refuses is not the best: %s',
  (value) => {
    const best = new BestValue(experimentOf('project', null));
    expect(best.take([point(value, 1)])).toBe(false);
    expect(best.value.best).toBeNull();
  },
);

test('a step that the table refuses is none', () => {
  const best = new BestValue(experimentOf('project', null));
  best.take([point(0.5, 1e300)]);
  expect(best.value.best).toEqual({ criterion: 'accuracy', metric: 'accuracy', value: 0.5, step: null });
});
