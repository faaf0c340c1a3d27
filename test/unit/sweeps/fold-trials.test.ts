import { expect, test } from 'vitest';
import { foldTrials } from '../../../shared/sweeps/fold-trials.ts';

const row = (trial: number, value: number | null, outcome: 'complete' | 'failed' | null = 'complete') => ({
  trial,
  params: { lr: 0.1 },
  outcome,
  status_reason: outcome === 'failed' ? 'no memory' : null,
  value,
  duration: 2,
  cost: 0.5,
});

test('repeats of a trial are its mean, its deviation and the sum of what they took', () => {
  const [trial] = foldTrials([row(0, 1), row(0, 3)], { repeats: 2, status: 'RUNNING' });

  expect(trial).toMatchObject({ trial: 0, value: 2, outcome: 'complete', seconds: 4, cost: 1 });
  expect(trial?.deviation).toBeCloseTo(Math.SQRT2);
});

test('a trial runs while a repeat of it has not begun', () => {
  const [trial] = foldTrials([row(0, 1)], { repeats: 2, status: 'PAUSED' });

  expect(trial).toMatchObject({ value: null, outcome: 'running' });
});

test('a repeat that a cancelled sweep never begins leaves its trial cancelled, without a value', () => {
  const [trial, other] = foldTrials([row(0, 1), row(1, null, 'failed')], { repeats: 2, status: 'CANCELLED' });

  expect(trial).toMatchObject({ value: null, outcome: 'cancelled' });
  expect(other).toMatchObject({ value: null, outcome: 'failed', reason: 'no memory' });
});
