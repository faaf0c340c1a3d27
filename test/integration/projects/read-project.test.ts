import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { markNew } from '../../../shared/data/experiments/catalogue-mark.ts';
import { type Experiment, putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { foldCatalogue } from '../../../shared/data/experiments/fold-catalogue.ts';
import { count } from '../../../shared/data/projects/project.ts';
import { experimentOf } from '../../support/experiment.ts';
import { holdRecency } from '../../support/hold-recency.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { tableRequests } from '../../support/table-requests.ts';
import { newProject } from './new-project.ts';

// One story: each test goes on from the one before it.
describe('details of a project', { shuffle: false }, () => {
  let service: TestService;
  let owner: TestUser;
  let path: { project_id: string };

  const read = (headers: Record<string, string> = {}) =>
    service.call(readProject, { path, headers, as: owner });

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
    path = { project_id: await newProject(service, owner) };
  });

  async function add(value: number | null): Promise<Experiment> {
    const one = experimentOf(path.project_id, value);
    await service.records.write(putExperiment(one), count(path.project_id, { experiments: 1 }));
    return one;
  }

  test('an empty one', async () => {
    const { status, json, headers } = await read();
    expect(status).toBe(200);
    expect(json).toEqual({
      ...path,
      project_name: 'digits',
      rules: [],
      views: [],
      baseline: null,
      project_description: 'Reads digits',
      project_type: 'vision',
      project_task: 'classification',
      criterion: 'accuracy',
      criterion_goal: 'maximize',
      criterion_source: 'task',
      owner: owner.user.username,
      owner_id: owner.user.user_id,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      deleted_at: null,
      environment: null,
      configs: 0,
      experiments: 0,
      bytes: 0,
      limit_bytes: 1e12,
      latest_experiment: null,
      best_experiment: null,
      best_reason: null,
      metrics: [],
    });
    expect(headers['etag']).toMatch(/^"1-/);
    expect((await read({ 'If-None-Match': headers['etag']! })).status).toBe(304);
  });

  test('with an environment, configurations and experiments, of which the latest is not the best', async () => {
    await service.call(putEnvironment, {
      path,
      query: { entry_point_command: 'python train.py', env_type: 'python', dependencies: 'numpy' },
      as: owner,
    });
    for (const config_id of ['a.yaml', 'b.yaml']) {
      await service.call(putConfig, { path: { ...path, config_id }, body: 'lr: 0.1', as: owner });
    }
    await add(0.9);
    const best = await add(0.95);
    await add(0.1);
    const latest = await add(null);
    const { json } = await read();
    expect(json).toMatchObject({
      environment: { entry_point_command: 'python train.py', env_type: 'python', lock_hash: null },
      configs: 2,
      experiments: 4,
      latest_experiment: { experiment_id: latest.experiment_id, status: 'RUNNING', best: null },
      best_experiment: {
        experiment_id: best.experiment_id,
        config_id: 'train.yaml',
        best: { criterion: 'accuracy', metric: 'accuracy', value: 0.95, step: 3 },
      },
    });
    expect(Object.keys(json.environment)).toEqual(['entry_point_command', 'env_type', 'lock_hash']);
    expect(json.latest_experiment).not.toHaveProperty('user_id');
  });

  test('the best one is told by the criterion of the present task', async () => {
    await service.call(updateProject, {
      path,
      body: JSON.stringify({ project_task: 'regression' }),
      headers: { 'Content-Type': 'application/json' },
      as: owner,
    });
    const { json, headers } = await read();
    expect(json.best_experiment).toBeNull();
    expect(json.best_reason).toBe('No run has reported val_rmse or rmse. They reported accuracy.');
    expect(json.latest_experiment).not.toBeNull();
    expect(headers['etag']).toMatch(/^"2-/);
  });

  test('X-Fields shows a part', async () => {
    const { json } = await read({ 'X-Fields': '{project_name,environment{env_type}}' });
    expect(json).toEqual({ project_name: 'digits', environment: { env_type: 'python' } });
    expect((await read({ 'X-Fields': '{a{' })).status).toBe(400);
  });

  test('reads as much with a hundred runs that wait as with ten', async () => {
    holdRecency();
    const other = { project_id: await newProject(service, owner) };
    const waiting = async (number: number) => {
      const made = Array.from({ length: number }, () => ({
        ...experimentOf(other.project_id, null),
        ...{ status: 'CREATED' as const, status_rank: 0, line_ticket: 1 },
      }));
      await service.records.write(
        ...made.flatMap((one) => [putExperiment(one), markNew(other.project_id, one.experiment_id)]),
        count(other.project_id, { experiments: number }),
      );
      const fold = () => foldCatalogue(service.records, other.project_id, { milliseconds: 2000, least: 1 });
      await fold();
      const get = () => service.call(readProject, { path: other, as: owner });
      await get();
      const requests = (await tableRequests(service, readProject, get)).flat();
      return { requests, items: (await get()).json.experiments as number };
    };

    const few = await waiting(10);
    await waiting(45);
    const many = await waiting(45);

    expect(many).toEqual({ requests: few.requests, items: 100 });
  });
});
