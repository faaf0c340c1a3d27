import { expect, test } from 'vitest';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as deleteSweep } from '../../../functions/projects/sweeps/delete-sweep.endpoint.ts';
import { endpoint as readSweep } from '../../../functions/projects/sweeps/read-sweep.endpoint.ts';
import { endpoint as retrySweep } from '../../../functions/projects/sweeps/retry-sweep.endpoint.ts';
import { trainingService } from '../../support/training.ts';
import { sweptProject } from './swept-project.ts';

test('failed runs of a sweep are tried again, and its experiments go with it where asked', async () => {
  const service = await trainingService();
  const project = await sweptProject(service);
  const { sweep_id } = await project.begin({
    method: 'grid',
    metric: 'val_loss',
    parallel: 2,
    retries: 1,
    parameters: { fails: { values: [true, false] } },
  });

  const ended = await project.ended(sweep_id);
  const before = await project.trials(sweep_id);
  const retrying = await project.must(project.call(retrySweep, sweep_id));
  const again = await project.ended(sweep_id);
  const after = await project.trials(sweep_id);
  const deleted = await project.must(project.call(deleteSweep, sweep_id, { query: { experiments: 'true' } }));

  expect(ended).toMatchObject({ status: 'COMPLETED', counts: { complete: 1, failed: 1 } });
  expect(before.map(({ tries, outcome }: { tries: number; outcome: string }) => [tries, outcome])).toEqual([
    [2, 'failed'],
    [1, 'complete'],
  ]);
  expect(retrying).toMatchObject({ status: 'RUNNING', counts: { failed: 0 } });
  expect(again).toMatchObject({ status: 'COMPLETED', counts: { complete: 1, failed: 1 } });
  expect(after[0].tries).toBe(3);
  expect(after[0].experiment_id).not.toBe(before[0].experiment_id);
  expect(deleted).toEqual({ sweep_id, cancelled: 0 });
  expect((await project.call(readSweep, sweep_id)).status).toBe(404);
  expect(await project.must(project.call(listExperiments))).toEqual([]);
});
