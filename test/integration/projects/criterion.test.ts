import { beforeEach, describe, expect, test } from 'vitest';
import { endpoint as listExperiments } from '../../../functions/experiments/list-experiments.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/update-project.endpoint.ts';
import { type Experiment, putExperiment } from '../../../shared/data/experiment.ts';
import { count } from '../../../shared/data/project.ts';
import { rank, unrank } from '../../../shared/data/ranking.ts';
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

async function add(more: Partial<Experiment>): Promise<Experiment> {
  const made = { ...experimentOf(path.project_id, 0.5), best: null, ...more };
  await service.records.write(
    putExperiment(made),
    count(path.project_id, { experiments: 1 }),
    ...(made.best === null ? [] : [rank(made, made.best)]),
  );
  return made;
}

describe('the criterion of a project', () => {
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

  test('ranks by either direction of its own metric apart', async () => {
    const name = 'val/latency';
    const made = async (goal: 'maximize' | 'minimize', value: number) =>
      add({
        criterion: { name, goal, own: true },
        best: { criterion: name, metric: name, value, step: 1 },
      });
    const best = async (criterion_goal: string) => {
      await change({ criterion: name, criterion_goal });
      return (await project()).best_experiment?.best.value;
    };
    const low = await made('minimize', 2);
    await made('minimize', 3);
    await made('maximize', 1);
    await made('maximize', 5);
    expect([await best('minimize'), await best('maximize')]).toEqual([2, 5]);
    await service.records.write(...unrank(low));
    expect(await best('minimize')).toBe(3);
    await change({ criterion: null });
    expect((await project()).best_experiment).toBeNull();
  });
});

test('an experiment without a best value says why', async () => {
  const reasons = async () =>
    (await experiments()).map(({ best, best_reason }: { best: unknown; best_reason: unknown }) => [
      best,
      best_reason,
    ]);
  await add({ best: { criterion: 'accuracy', value: 0.5, step: 3 } });
  await add({ metric_names: ['train_acc', 'lr'] });
  await add({ metric_names: [] });
  // As an earlier release wrote it, with a criterion of the project.
  await add({ criterion: { name: 'val/latency', goal: 'minimize', own: true } });
  expect(await reasons()).toEqual([
    [null, expect.stringContaining('The run reported no val/latency.')],
    [null, expect.stringContaining('as accuracy, val_accuracy, acc, acc1, one JSON line')],
    [null, expect.stringContaining('and the run reported only train_acc, lr.')],
    [{ criterion: 'accuracy', metric: 'accuracy', value: 0.5, step: 3 }, null],
  ]);
  expect((await project()).latest_experiment).toMatchObject({
    best: null,
    best_reason: expect.stringContaining('val/latency'),
  });
});
