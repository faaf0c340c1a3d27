import { expect, test } from 'vitest';
import { axesOfRows } from '../../../../../../../functions/console/app/experiments/values/axes-of-rows.ts';
import type { Row } from '../../../../../../../functions/console/app/runs/row.ts';

const row = (lr: string, accuracy: number): Row =>
  ({
    params: { lr },
    metrics: Object.fromEntries(
      Object.entries({ epoch: 3, lr: 0.1, 'train/loss': 1 / accuracy, 'val/accuracy': accuracy }).map(
        ([name, last]) => [name, { last }],
      ),
    ),
  }) as unknown as Row;

test('the criterion is the first outcome, counters are the last, and no two axes have one name', () => {
  const axes = axesOfRows([row('0.1', 0.5), row('0.2', 0.75)], { name: 'accuracy', goal: 'maximize' });

  expect(axes.map(({ name }) => name)).toEqual(['lr', 'val/accuracy', 'train/loss', 'epoch', 'lr (metric)']);
});
