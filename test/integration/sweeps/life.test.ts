import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as cancelSweep } from '../../../functions/projects/sweeps/cancel-sweep.endpoint.ts';
import { endpoint as createTrial } from '../../../functions/projects/sweeps/create-trial.endpoint.ts';
import { endpoint as deleteSweep } from '../../../functions/projects/sweeps/delete-sweep.endpoint.ts';
import { endpoint as listTrials } from '../../../functions/projects/sweeps/list-trials.endpoint.ts';
import { endpoint as pauseSweep } from '../../../functions/projects/sweeps/pause-sweep.endpoint.ts';
import { endpoint as readSweep } from '../../../functions/projects/sweeps/read-sweep.endpoint.ts';
import { endpoint as resumeSweep } from '../../../functions/projects/sweeps/resume-sweep.endpoint.ts';
import { endpoint as updateSweep } from '../../../functions/projects/sweeps/update-sweep.endpoint.ts';
import { everySample } from '../../support/samples.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { json } from '../users/body.ts';
import { sweptProject } from './swept-project.ts';

const ends: (() => Promise<unknown>)[] = [];
let service: TrainingService;
let project: Awaited<ReturnType<typeof sweptProject>>;

beforeAll(async () => {
  service = await trainingService({}, {}, (end) => ends.push(end));
  project = await sweptProject(service);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

describe('a sweep', () => {
  test('that is paused begins nothing, and resumed and extended it tries the rest', async () => {
    const { sweep_id } = await project.begin({
      method: 'random',
      metric: 'val_loss',
      trials: 2,
      parameters: { lr: { min: 0.01, max: 1, scale: 'log' } },
    });

    const paused = await project.must(project.call(pauseSweep, sweep_id));
    const quiet = await project.until(sweep_id, ({ counts }) => counts.running === 0);
    const extended = await project.must(
      project.call(updateSweep, sweep_id, json({ trials: 3, parallel: 2 })),
    );
    await project.must(project.call(resumeSweep, sweep_id));

    expect(paused).toMatchObject({ status: 'PAUSED', counts: { begun: 1 } });
    expect(quiet.counts).toMatchObject({ begun: 1, left: 1 });
    expect(extended).toMatchObject({ status: 'PAUSED', trials: 3, counts: { left: 2 } });
    const ended = await project.ended(sweep_id);
    expect(ended).toMatchObject({ status: 'COMPLETED', counts: { begun: 3, complete: 3 } });
    const again = await project.call(resumeSweep, sweep_id);
    expect(again.status).toBe(409);
    expect(again.json.detail).toContain('Extend it, or try');
  });

  test('that is cancelled ends its runs, and deleted it leaves its experiments', async () => {
    const { sweep_id } = await project.begin({
      method: 'grid',
      metric: 'val_loss',
      parallel: 2,
      parameters: { steps: { value: 100 }, slow: { value: true }, depth: { values: [1, 2, 3, 4] } },
    });
    await project.until(sweep_id, ({ counts }) => counts.running === 2);

    const cancelled = await project.must(project.call(cancelSweep, sweep_id));
    const ended = await project.ended(sweep_id);
    const trials = await project.trials(sweep_id);
    const deleted = await project.must(project.call(deleteSweep, sweep_id));
    const left = await project.must(
      project.call(listExperiments, '', { query: { filter: `sweep = '${sweep_id}'` } }),
    );

    expect(cancelled.status).toBe('CANCELLED');
    expect(ended.counts).toMatchObject({ begun: 2, cancelled: 2 });
    expect(trials.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['cancelled', 'cancelled']);
    expect(deleted).toEqual({ sweep_id, cancelled: 0 });
    expect((await project.call(readSweep, sweep_id)).status).toBe(404);
    expect(left).toHaveLength(2);
  });

  test('of repeats is ranked by their mean, and each repeat has a seed of its own', async () => {
    const { sweep_id } = await project.begin({
      method: 'grid',
      metric: 'val_loss',
      repeats: 2,
      parallel: 2,
      parameters: { lr: { values: [0.1] } },
    });

    const ended = await project.ended(sweep_id);
    const trials = await project.trials(sweep_id);

    expect(trials.map(({ value }: { value: number }) => Number(value.toFixed(6)))).toEqual([0.011, 0.012]);
    expect(ended.best.value).toBeCloseTo(0.0115);
    expect(ended.best.deviation).toBeCloseTo(0.000707);
  });

  test.runIf(everySample)(
    'of repeats sets the seed in the configuration, if the sweep names its value',
    async () => {
      const { sweep_id } = await project.begin({
        method: 'grid',
        metric: 'val_loss',
        repeats: 3,
        repeat_seed: 'seed',
        parallel: 3,
        parameters: { lr: { values: [0.1] } },
      });

      const ended = await project.ended(sweep_id);
      const trials = await project.trials(sweep_id);
      const experiments = await project.must(
        project.call(listExperiments, '', { query: { filter: `sweep = '${sweep_id}'` } }),
      );

      expect(trials.map(({ value }: { value: number }) => Number(value.toFixed(6)))).toEqual([
        0.011, 0.012, 0.013,
      ]);
      expect(ended.best.value).toBeCloseTo(0.012);
      expect(experiments.map(({ overrides }: { overrides: object }) => overrides)).toEqual([
        { lr: 0.1, seed: 3 },
        { lr: 0.1, seed: 2 },
        { lr: 0.1, seed: 1 },
      ]);
    },
  );

  test.runIf(everySample)('whose first three runs fail for one reason pauses and says so', async () => {
    const { sweep_id } = await project.begin({
      method: 'grid',
      metric: 'val_loss',
      parameters: { fails: { value: true }, depth: { values: [1, 2, 3, 4, 5] } },
    });

    const paused = await project.until(sweep_id, ({ status }) => status !== 'RUNNING');

    expect(paused).toMatchObject({ status: 'PAUSED', counts: { begun: 3, failed: 3 } });
    expect(paused.status_reason).toContain('ValueError: no such depth');
  });

  test.runIf(everySample)(
    'whose metric no run reports pauses after three, and names those that are there',
    async () => {
      const { sweep_id } = await project.begin({
        method: 'grid',
        metric: 'val_f2',
        goal: 'maximize',
        parameters: { depth: { values: [1, 2, 3, 4] } },
      });

      const paused = await project.until(sweep_id, ({ status }) => status !== 'RUNNING');

      expect(paused.status).toBe('PAUSED');
      expect(paused.status_reason).toContain(
        'None of the first three runs reported val_f2. They reported val_loss.',
      );
    },
  );

  test.runIf(everySample)(
    'that takes its trials from a client begins those it is asked for, and no other',
    async () => {
      const { sweep_id } = await project.begin({ method: 'external', metric: 'val_loss', trials: 2 });
      const ask = (params: object) => project.call(createTrial, sweep_id, json({ params }));

      const wrong = await ask({ 'learning-rate': 0.1 });
      const first = await ask({ lr: 0.3 });
      const tooEarly = await ask({ lr: 0.2 });
      await project.until(sweep_id, ({ counts }) => counts.running === 0);
      const second = await ask({ lr: 0.2 });
      const ended = await project.ended(sweep_id);

      expect(wrong.json.errors).toEqual([
        { in: 'body', name: 'params.learning-rate', message: expect.any(String) },
      ]);
      expect(first.json).toMatchObject({
        sweep_id,
        trial: 0,
        repeat: 1,
        outcome: null,
        params: { lr: '0.3' },
      });
      expect(tooEarly.status).toBe(409);
      expect(second.status, second.text).toBe(200);
      expect(ended).toMatchObject({ status: 'COMPLETED', best: { trial: 1, params: { lr: 0.2 } } });
    },
  );

  test('ends bad trials early, by what the others reported', async () => {
    const { sweep_id } = await project.begin({
      method: 'grid',
      metric: 'val_loss',
      stop: { rule: 'asha', step_min: 2, reduction: 2 },
      parameters: { steps: { value: 12 }, slow: { value: true }, lr: { values: [0.1, 1] } },
    });

    const ended = await project.ended(sweep_id);
    const [good, bad] = await project.trials(sweep_id);
    const experiment = await project.must(
      service.call(readExperiment, {
        path: { project_id: project.project_id, experiment_id: bad.experiment_id },
        as: service.developer,
      }),
    );

    expect(good.outcome).toBe('complete');
    expect(bad).toMatchObject({ outcome: 'stopped early', status: 'CANCELLED' });
    expect(bad.status_reason).toMatch(
      /^Stopped early: val_loss 0\.82\d* at step 2 is worse than 1 of 1 trials there\./,
    );
    expect(experiment.outcome).toBe('stopped early');
    expect(ended.counts).toMatchObject({ complete: 1, stopped_early: 1, cancelled: 0 });
  });

  test.runIf(everySample)('ends a trial early that is worse than the median of five others', async () => {
    const { sweep_id } = await project.begin({
      method: 'grid',
      metric: 'val_loss',
      // One after the other: a late one of five at once would be judged beside the bad trial.
      parallel: 1,
      stop: { rule: 'median', step_min: 2 },
      parameters: {
        steps: { value: 3 },
        slow: { value: true },
        lr: { values: [0.1, 0.11, 0.12, 0.13, 0.14, 1] },
      },
    });

    const ended = await project.ended(sweep_id);
    const trials = await project.trials(sweep_id);

    expect(ended.counts).toMatchObject({ complete: 5, stopped_early: 1 });
    expect(trials[5]).toMatchObject({ params: { lr: 1 }, outcome: 'stopped early', status: 'CANCELLED' });
    expect(trials[5].status_reason).toMatch(
      /^Stopped early: the best val_loss up to step 2, 0\.82\d*, is worse than the median of 5 trials there, 0\.01\d*\.$/,
    );
  });

  test.runIf(everySample)('is listed by value, as NDJSON and as CSV', async () => {
    const { sweep_id } = await project.begin({
      method: 'grid',
      metric: 'val_loss',
      parallel: 3,
      parameters: { lr: { values: [0.3, 0.1, 0.2] } },
    });
    await project.ended(sweep_id);
    const list = (Accept: string, query: Record<string, string>) =>
      project.call(listTrials, sweep_id, { headers: { Accept }, query });

    const best = await list('application/json', { order_by: 'value', limit: '2' });
    const rows = await list('application/x-ndjson', {});
    const table = await list('text/csv', { order_by: 'value DESC' });

    expect(best.json.map(({ trial }: { trial: number }) => trial)).toEqual([1, 2]);
    expect(best.headers['link']).toContain('rel="next"');
    expect(
      rows.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).trial),
    ).toEqual([0, 1, 2]);
    const lines = table.text.trim().split('\r\n');
    expect(lines[0]).toMatch(/^trial,repeat,.*,params\.lr$/);
    expect(lines.slice(1).map((line) => line.split(',').at(-1))).toEqual(['0.3', '0.2', '0.1']);
  });
});

test('a sweep is refused with every fault at once', async () => {
  const answer = await project.refused({
    method: 'grid',
    metric: 'quux',
    budget: 1,
    parameters: { learning: { values: [1, 2] }, lr: { min: 0, max: 1, scale: 'log', step: 0.1 } },
  });

  const names = answer.errors.map(({ name }: { name: string }) => name);
  expect(names).toContain('parameters.lr.min');
  const further = await project.refused({
    method: 'grid',
    metric: 'quux',
    budget: 1,
    parameters: { learnig: { values: [1, 2] } },
  });
  expect(further.errors.map(({ name }: { name: string }) => name).sort()).toEqual([
    'budget',
    'goal',
    'parameters.learnig',
  ]);
});
