import { expect, test } from 'vitest';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { everySample } from '../../support/samples.ts';
import { trainingService } from '../../support/training.ts';
import { sweptProject } from './swept-project.ts';

test.runIf(everySample)(
  'a sweep tries every point of its grid, two at a time, and names the best',
  async () => {
    const service = await trainingService();
    const project = await sweptProject(service);

    const begun = await project.begin({
      method: 'grid',
      metric: 'val_loss',
      parallel: 2,
      parameters: { lr: { values: [0.3, 0.1, 0.2] }, depth: { values: [2, 4] } },
    });

    expect(begun.estimate.experiments).toBe(6);
    expect(begun.counts).toMatchObject({ begun: 2, running: 2, left: 4 });
    const ended = await project.ended(begun.sweep_id);
    expect(ended.status).toBe('COMPLETED');
    expect(ended.counts).toMatchObject({ complete: 6, failed: 0, begun: 6, left: 0 });
    expect(ended.best).toMatchObject({ trial: 1, params: { lr: 0.1, depth: 2 } });
    expect(ended.best.value).toBeCloseTo(0.021);
    const trials = await project.trials(begun.sweep_id);
    expect(trials.map(({ trial, params }: { trial: number; params: object }) => [trial, params])).toEqual([
      [0, { depth: 2, lr: 0.3 }],
      [1, { depth: 2, lr: 0.1 }],
      [2, { depth: 2, lr: 0.2 }],
      [3, { depth: 4, lr: 0.3 }],
      [4, { depth: 4, lr: 0.1 }],
      [5, { depth: 4, lr: 0.2 }],
    ]);
    const experiments = await project.must(project.call(listExperiments));
    expect(experiments).toHaveLength(6);
  },
);
