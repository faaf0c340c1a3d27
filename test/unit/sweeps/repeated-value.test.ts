import { expect, test } from 'vitest';
import { repeatedValue } from '../../../shared/sweeps/repeated-value.ts';

test('a trial is judged by the mean and the standard deviation of its repeats', () => {
  const repeats = [1, 2, 3].map((value) => ({ status: 'complete' as const, value }));

  const judged = repeatedValue(repeats);

  expect(judged).toEqual({ value: 2, deviation: 1 });
});

test('a trial of which one repeat diverged has no value', () => {
  const judged = repeatedValue([
    { status: 'complete', value: 0.5 },
    { status: 'failed', value: Number.NaN },
  ]);

  expect(judged).toEqual({ value: null, deviation: null });
});

test('a cancelled repeat does not count', () => {
  const judged = repeatedValue([
    { status: 'complete', value: 0.5 },
    { status: 'cancelled', value: null },
  ]);

  expect(judged).toEqual({ value: 0.5, deviation: null });
});
