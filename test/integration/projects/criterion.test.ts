import { beforeEach, describe, expect, test } from 'vitest';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as searchExperiments } from '../../../functions/experiments/search/search-experiments.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { count } from '../../../shared/data/projects/project.ts';
import { experimentOf } from '../../support/experiment.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { json as asJson } from '../users/body.ts';
import { newProject } from './new-project.ts';

let service: TestService;
let owner: TestUser;
let path: { project_id: string };

beforeEach(async () => {
  service = await testService();
  owner = await service.user('developer');
  path = { project_id: await newProject(service, owner) };
});

const change = (body: object) => service.call(updateProject, { path, ...asJson(body), as: owner });
const project = async () => (await service.call(readProject, { path, as: owner })).json;
const experiments = async () => (await service.call(listExperiments, { path, as: owner })).json;

/** Record a run that reports these metrics. */
async function run(metrics: Readonly<Record<string, number>>, status?: 'SUCCEEDED'): Promise<string> {
  const made = await service.call(createExperiment, { path, ...asJson({}), as: owner });
  const one = { ...path, experiment_id: made.json.experiment_id };
  const points = Object.entries(metrics).map(([name, value]) => ({ name, value, step: 1 }));
  const logged = await service.call(logMetrics, { path: one, ...asJson({ metrics: points }), as: owner });
  expect(logged.status, logged.text).toBe(200);
  if (status !== undefined)
    await service.call(updateExperiment, { path: one, ...asJson({ status }), as: owner });
  return one.experiment_id;
}

describe('the criterion of a project', () => {
  test('of a detector is its mean average precision, under the name that Ultralytics reports', async () => {
    await change({ project_task: 'training' });
    await run({
      'train/box_loss': 1.2,
      'val/box_loss': 1.4,
      'metrics/mAP50(B)': 0.6,
      'metrics/mAP50-95(B)': 0.4,
    });

    expect(await project()).toMatchObject({ criterion: 'map', criterion_goal: 'maximize' });
    expect((await experiments())[0].best).toMatchObject({ metric: 'metrics/mAP50-95(B)', value: 0.4 });
  });

  test('from a first run that reports training data alone ranks later ones by validation data', async () => {
    await change({ project_task: 'training' });
    await run({ train_score: 0.9 });
    await run({ train_score: 0.95, val_score: 0.7 });

    expect((await experiments())[0].best).toMatchObject({ metric: 'val_score', value: 0.7 });
  });

  test('is that of its task until the project names one, and again once it names none', async () => {
    expect(await project()).toMatchObject({
      criterion: 'accuracy',
      criterion_goal: 'maximize',
      criterion_source: 'task',
    });
    const f1 = await change({ criterion: 'f1' });
    const named = { criterion: 'f1', criterion_goal: 'maximize', criterion_source: 'project' };
    expect([f1.status, f1.json]).toEqual([200, expect.objectContaining(named)]);
    expect(await project()).toMatchObject(named);
    expect((await change({ project_task: 'regression' })).json).toMatchObject(named);
    const own = { criterion: 'val/latency', criterion_goal: 'minimize' };
    expect((await change(own)).json).toMatchObject({ ...own, criterion_source: 'project' });
    const none = { criterion: 'rmse', criterion_goal: 'minimize', criterion_source: 'task' };
    expect((await change({ criterion: null })).json).toMatchObject(none);
    expect(await project()).toMatchObject(none);
  });

  test('needs a direction that is known', async () => {
    const unknown = await change({ criterion: 'val/latency' });
    expect([unknown.status, unknown.json.errors[0].name]).toEqual([400, 'criterion_goal']);
    const alone = await change({ criterion_goal: 'minimize' });
    expect([alone.status, alone.json.errors[0].name]).toEqual([400, 'criterion_goal']);
    const bad = await change({ criterion: ' ', criterion_goal: 'up' });
    expect(bad.json.errors.map(({ name }: { name: string }) => name).sort()).toEqual([
      'criterion',
      'criterion_goal',
    ]);
  });

  test('takes effect on every run at once: alone, in lists, orders and filters, and for the best of the project', async () => {
    const slow = await run({ 'val/loss': 0.2, 'val/latency': 9 }, 'SUCCEEDED');
    const quick = await run({ 'val/loss': 0.4, 'val/latency': 2 }, 'SUCCEEDED');
    const going = await run({ 'val/loss': 0.1, 'val/latency': 1 });
    const best = async () => (await project()).best_experiment?.experiment_id;
    const listed = async (query = {}) =>
      (await service.call(listExperiments, { path, query, as: owner })).json.map(
        ({ experiment_id, best }: { experiment_id: string; best: { value: number } | null }) => [
          experiment_id,
          best?.value ?? null,
        ],
      );
    expect(await listed()).toEqual([
      [going, null],
      [quick, null],
      [slow, null],
    ]);
    await change({ criterion: 'val_latency', criterion_goal: 'minimize' });
    expect(await best()).toBe(quick);
    expect(await listed()).toEqual([
      [going, 1],
      [quick, 2],
      [slow, 9],
    ]);
    await change({ criterion: 'val_latency', criterion_goal: 'maximize' });
    expect(await best()).toBe(slow);
    expect(await listed({ order_by: 'best' })).toEqual([
      [slow, 9],
      [quick, 2],
      [going, 1],
    ]);
    expect((await listed({ order_by: 'best DESC' }))[0]).toEqual([going, 1]);
    await change({ criterion: 'loss' });
    expect(await best()).toBe(slow);
    expect(await listed({ order_by: 'best' })).toEqual([
      [going, 0.1],
      [slow, 0.2],
      [quick, 0.4],
    ]);
    expect(await listed({ filter: 'best < 0.3' })).toEqual([
      [going, 0.1],
      [slow, 0.2],
    ]);
    const everywhere = await service.call(searchExperiments, { query: { order_by: 'best' }, as: owner });
    expect(everywhere.json[0]).toMatchObject({
      experiment_id: going,
      best: { criterion: 'loss', metric: 'val/loss', value: 0.1, step: 1 },
    });
  });

  test('a value of training data is the best only where there is no other', async () => {
    await change({ criterion: 'loss' });
    const trained = await run({ train_loss: 0.01 }, 'SUCCEEDED');
    const best = async () => (await project()).best_experiment?.experiment_id;
    expect(await best()).toBe(trained);
    const validated = await run({ train_loss: 0.5, loss_val: 0.6 }, 'SUCCEEDED');
    expect(await best()).toBe(validated);
  });
});

describe('the criterion of a project whose task says nothing', () => {
  beforeEach(async () => {
    path = { project_id: await newProject(service, owner, 'other') };
  });

  test('follows from what its first run reports', async () => {
    expect(await project()).toMatchObject({ criterion: 'loss', criterion_source: 'default' });
    await run({ lr: 0.1 });
    expect(await project()).toMatchObject({ criterion: 'loss', criterion_source: 'default' });
    const first = await run({ 'train/acc': 0.9, lr: 0.1 });
    const accuracy = { criterion: 'accuracy', criterion_goal: 'maximize', criterion_source: 'first-run' };
    expect(await project()).toMatchObject(accuracy);
    await run({ rmse: 0.1 });
    expect(await project()).toMatchObject(accuracy);
    const found = await service.call(listProjects, { as: owner, query: {} });
    expect(found.json[0]).toMatchObject({ ...path, ...accuracy });
    const read = await service.call(readExperiment, { path: { ...path, experiment_id: first }, as: owner });
    expect(read.json.best).toMatchObject({ criterion: 'accuracy', metric: 'train/acc', value: 0.9 });
  });

  test('is told better by later metrics of the same run, and of no other', async () => {
    const first = await run({ 'train/loss': 0.9 });
    expect(await project()).toMatchObject({ criterion: 'loss', criterion_source: 'first-run' });
    const one = { ...path, experiment_id: first };
    const metrics = [{ name: 'eval_f1', value: 0.5 }];
    await service.call(logMetrics, { path: one, ...asJson({ metrics }), as: owner });
    expect(await project()).toMatchObject({ criterion: 'f1', criterion_goal: 'maximize' });
    await service.call(updateExperiment, { path: one, ...asJson({ status: 'FAILED' }), as: owner });
    await service.call(deleteExperiment, { path: one, as: owner });
    await run({ accuracy: 1 });
    expect(await project()).toMatchObject({ criterion: 'f1', criterion_source: 'first-run' });
  });

  test('is the one that the project or its task names, once one does', async () => {
    await run({ accuracy: 0.5 });
    await change({ project_task: 'regression' });
    expect(await project()).toMatchObject({ criterion: 'rmse', criterion_source: 'task' });
    await change({ criterion: 'val_loss' });
    expect(await project()).toMatchObject({
      criterion: 'val_loss',
      criterion_goal: 'minimize',
      criterion_source: 'project',
    });
    expect((await change({ criterion: null, project_task: 'other' })).json).toMatchObject({
      criterion: 'accuracy',
      criterion_source: 'first-run',
    });
  });
});

test('a run without a best value says why, and what there is instead', async () => {
  const reasons = async () =>
    (await experiments()).map(({ best, best_reason }: { best: unknown; best_reason: unknown }) => [
      best,
      best_reason,
    ]);
  await service.records.write(
    putExperiment({ ...experimentOf(path.project_id, null), status: 'FAILED' }),
    // As a release wrote it that kept the best value and no summary of the metrics.
    putExperiment(experimentOf(path.project_id, 0.5)),
    count(path.project_id, { experiments: 2 }),
  );
  await run({ 'val/loss': 0.5, lr: 0.1 });
  await service.call(createExperiment, { path, ...asJson({}), as: owner });
  const [empty, other, ...trained] = await reasons();
  expect([empty, other]).toEqual([
    [null, 'The run has reported no metric yet. Log one, such as val_accuracy.'],
    [
      null,
      "The project's criterion is accuracy, but the run has reported only lr, val/loss. Choose one of these as the project's criterion, or report val_accuracy or accuracy.",
    ],
  ]);
  expect(trained).toEqual(
    expect.arrayContaining([
      [{ criterion: 'accuracy', metric: 'accuracy', value: 0.5, step: 3 }, null],
      [
        null,
        'The run reported no metric. Append lines such as {"val_accuracy":0.5,"step":1} to METRICS_FILE, or log to MLflow.',
      ],
    ]),
  );
  const { latest_experiment, metrics } = await project();
  expect(latest_experiment).toMatchObject({ best: null, best_reason: empty?.[1] });
  expect(metrics).toEqual([
    { name: 'val/loss', goal: 'minimize' },
    { name: 'accuracy', goal: 'maximize' },
    { name: 'lr', goal: null },
  ]);
});

test('a criterion that no run has: the project names the metrics that there are', async () => {
  await run({ 'val/loss': 0.5 }, 'SUCCEEDED');
  expect((await project()).best_reason).toBe(
    'No run has reported val_accuracy or accuracy. They reported val/loss.',
  );
  await change({ criterion: 'val_loss' });
  expect(await project()).toMatchObject({ best_reason: null, best_experiment: { best: { value: 0.5 } } });
});
