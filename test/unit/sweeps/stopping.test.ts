import { expect, test } from 'vitest';
import { judge, type Stopping } from '../../../shared/sweeps/early-stopping.ts';
import { reachedRungs } from '../../../shared/sweeps/rungs.ts';
import type { RungReport } from '../../../shared/sweeps/types.ts';
import { fixture } from './sampling/fixture.ts';

const asha: Stopping = {
  stop: { rule: 'asha', step_min: 3, reduction: 3 },
  metric: 'val_loss',
  goal: 'minimize',
};
const median: Stopping = { ...asha, stop: { rule: 'median', step_min: 1, reduction: 3 } };

test('asha keeps the best third of those that reached a rung', () => {
  const reports = atRung(0, 3, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.95, 0.96, 0.97, 0.91]);

  expect(judge(asha, 9, reports)).toEqual({
    stop: true,
    reason: 'Stopped early: val_loss 0.91 at step 3 is worse than 6 of 9 trials there.',
  });
  expect(judge(asha, 2, reports)).toEqual({ stop: false });
  expect(judge(asha, 3, reports).stop).toBe(true);
});

test('asha lets the first trial at a rung go on, and those that are as good', () => {
  expect(judge(asha, 0, atRung(2, 27, [0.9]))).toEqual({ stop: false });
  expect(judge(asha, 3, atRung(0, 3, [0.5, 0.5, 0.5, 0.5]))).toEqual({ stop: false });
});

test("asha ends the trials that Optuna's pruner of successive halving ends", async () => {
  const events = await fixture<[trial: number, step: number, value: number, ends: boolean][]>('asha.json');
  const stopping = { ...asha, stop: { rule: 'asha', step_min: 2, reduction: 3 } } as const;
  const reports: RungReport[] = [];

  const ended = events.map(([trial, step, value]) => {
    const from = reports.filter((report) => report.trial === trial).length;
    const reached = reachedRungs({ trial, from }, stopping.stop, [{ step, value }]);
    reports.push(...reached);
    return reached.length > 0 && judge(stopping, trial, reports).stop;
  });

  expect(ended).toEqual(events.map(([, , , ends]) => ends));
  expect(ended.filter(Boolean).length).toBeGreaterThan(50);
});

test('asha judges the last rung of a trial, or all from a given one on', () => {
  const reports = [...atRung(0, 3, [0.1, 0.2, 0.3, 0.9]), { trial: 3, rung: 1, step: 9, value: 0.1 }];

  expect(judge(asha, 3, reports)).toEqual({ stop: false });
  expect(judge(asha, 3, reports, 0).reason).toBe(
    'Stopped early: val_loss 0.9 at step 3 is worse than 3 of 3 trials there.',
  );
});

test.each(['asha', 'median'] as const)('NaN and infinities are the worst values of %s', (rule) => {
  const stopping = { ...(rule === 'asha' ? asha : median), goal: 'maximize' } as const;
  const others = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];

  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    expect(judge(stopping, 7, atRung(0, 3, [...others, value])).stop).toBe(true);
});

test('the median rule compares the best value with the running averages of the others', () => {
  const others = [0.2, 0.4, 0.6, 0.8, 1];
  const before = atRung(0, 1, [...others, 0.65]);
  const now = atRung(1, 2, [0.2, 0.4, 0.4, 0.8, 1, 0.9]);

  expect(judge(median, 5, [...before, ...now])).toEqual({
    stop: true,
    reason:
      'Stopped early: the best val_loss up to step 2, 0.65, is worse than the median of 5 trials there, 0.5.',
  });
  expect(judge(median, 4, [...before, ...now]).stop).toBe(true);
  expect(judge(median, 1, [...before, ...now])).toEqual({ stop: false });
});

test('the median rule waits for five others', () => {
  expect(judge(median, 4, atRung(0, 1, [0.1, 0.1, 0.1, 0.1, 9]))).toEqual({ stop: false });
  expect(judge(median, 5, atRung(0, 1, [0.1, 0.1, 0.1, 0.1, 0.1, 9])).stop).toBe(true);
});

test('without a rule nothing stops', () => {
  expect(judge({ ...asha, stop: undefined }, 0, atRung(0, 3, [9, 1, 1, 1]))).toEqual({ stop: false });
});

const atRung = (rung: number, step: number, values: readonly number[]): RungReport[] =>
  values.map((value, trial) => ({ trial, rung, step, value }));
