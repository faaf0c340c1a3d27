import { expect, test } from 'vitest';
import { reachedRungs } from '../../../shared/sweeps/rungs.ts';
import type { RungReport } from '../../../shared/sweeps/types.ts';

const points = (...steps: number[]) => steps.map((step) => ({ step, value: 1 / step }));

test('a trial reaches the rungs of ASHA at powers of the reduction', () => {
  const asha = { rule: 'asha', step_min: 3, reduction: 3 } as const;

  const reached: RungReport[] = reachedRungs({ trial: 4, from: 0 }, asha, points(1, 2, 3, 4, 9, 10));

  expect(reached).toEqual([
    { trial: 4, rung: 0, step: 3, value: 1 / 3 },
    { trial: 4, rung: 1, step: 9, value: 1 / 9 },
  ]);
});

test('a trial reaches a rung of the median rule at each multiple of the first step', () => {
  const median = { rule: 'median', step_min: 2, reduction: 3 } as const;

  const reached = reachedRungs({ trial: 0, from: 1 }, median, points(3, 5, 7));

  expect(reached.map(({ rung, step }) => ({ rung, step }))).toEqual([
    { rung: 1, step: 5 },
    { rung: 2, step: 7 },
  ]);
});
