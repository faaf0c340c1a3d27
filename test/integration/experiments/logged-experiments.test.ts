import { beforeAll, describe, expect, test } from 'vitest';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { endpoint as cancel } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as create } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as remove } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as logParams } from '../../../functions/experiments/records/log-params.endpoint.ts';
import { endpoint as read } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as update } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as readConfig } from '../../../functions/projects/configs/read-experiment-config.endpoint.ts';
import { endpoint as readConfigGraph } from '../../../functions/projects/configs/read-experiment-config-graph.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { experimentOf } from '../../support/experiment.ts';
import { everyItem } from '../../support/inventory.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

const time = (second: number) => new Date(1_770_000_000_000 + second * 1000).toISOString();
const ndjson = (lines: readonly unknown[]) => ({
  body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  headers: { 'Content-Type': 'application/x-ndjson' },
});

describe('an experiment that runs elsewhere', () => {
  let service: TestService;
  let as: TestUser;
  let project_id: string;

  beforeAll(async () => {
    service = await testService();
    as = await service.user('developer');
    project_id = await newProject(service, as);
  });

  async function created(body: object = {}) {
    const answer = await service.call(create, { path: { project_id }, as, ...json(body) });
    expect(answer.status, answer.text).toBe(200);
    return { project_id, experiment_id: answer.json.experiment_id as string };
  }
  type Path = Awaited<ReturnType<typeof created>>;
  const call = (endpoint: AnyEndpoint, path: Path, body?: object) =>
    service.call(endpoint, { path, as, ...(body !== undefined && json(body)) });
  const log = (path: Path, metrics: readonly object[]) => call(logMetrics, path, { metrics });
  const shown = async (path: Path) => (await call(read, path)).json;
  const items = () => everyItem(dynamoDb(service.environment), String(service.environment['RECORDS_TABLE']));
  /** What is left of anything: a purge is noted until it is over, and the audit tells who did what for longer. */
  const left = async () => (await items()).filter(({ pk }) => !/^(?:PURGES|AUDIT)/.test(pk));
  const points = async (path: Path) => (await call(readMetrics, path)).json;

  test('is recorded without a job, with what its client says of it', async () => {
    const path = await created({
      name: 'sweep 1',
      note: 'On my *laptop*.',
      tags: { stage: 'first' },
      params: { lr: 0.01, fast: true, text: 'a' },
      git: { commit: '8f3c1d7', branch: 'main' },
    });
    expect(await shown(path)).toMatchObject({
      kind: 'logged',
      status: 'RUNNING',
      name: 'sweep 1',
      note: 'On my *laptop*.',
      tags: { stage: 'first' },
      params: { lr: '0.01', fast: 'true', text: 'a' },
      git: { commit: '8f3c1d7', branch: 'main', dirty: null },
      config_id: null,
      metrics: {},
      vcpus: 0,
      cost: null,
    });
    expect((await service.records.query({ pk: 'UNFINISHED_JOBS' })).items).toEqual([]);
    const project = (await service.call(readProject, { path, as })).json;
    expect(project).toMatchObject({ latest_experiment: { experiment_id: path.experiment_id } });
    const other = await created();
    expect(await shown(other)).toMatchObject({ name: `experiment-${project.experiments + 1}` });
  });

  test('has no configuration that could be read', async () => {
    const path = await created();
    for (const endpoint of [readConfig, readConfigGraph])
      expect((await call(endpoint, path)).status, endpoint.name).toBe(404);
  });

  test('has a small curve of its best metric, up to its last value, of however many points', async () => {
    const path = await created();
    const loss = (step: number) => ({ name: 'val_accuracy', value: 1 / (step + 1), step, time: time(step) });
    await log(path, [{ name: 'other', value: 3, step: 0, time: time(0) }]);
    await log(
      path,
      Array.from({ length: 20 }, (_, step) => loss(step)),
    );
    await log(path, [
      ...Array.from({ length: 42 }, (_, step) => loss(step + 20)),
      { ...loss(62), value: 'NaN' },
    ]);
    await log(path, [loss(63)]);

    const { sparkline, best } = await shown(path);

    expect([sparkline.metric, best.metric]).toEqual(['val_accuracy', 'val_accuracy']);
    expect(sparkline.values.slice(0, 4)).toEqual([1, 0.2, 0.111, 0.077]);
    expect(sparkline.values).toHaveLength(17);
    expect(sparkline.values.at(-1)).toBe(0.016);
  });

  test('keeps points and their summary, whatever number they are', async () => {
    const path = await created();
    const metrics = [
      { name: 'loss', value: 2, step: 0, time: time(0) },
      { name: 'loss', value: 'NaN', step: 1, time: time(1) },
      { name: 'a/"<b>"', value: 1e308, time: time(0) },
      { name: 'a/"<b>"', value: '-Infinity', step: 0, time: time(1) },
      { name: 'n'.repeat(250), value: 5e-324, step: -7, time: time(0) },
    ];
    expect((await log(path, metrics)).json).toEqual({
      experiment_id: path.experiment_id,
      points: 5,
      stored: 5,
    });
    expect(await points(path)).toEqual(metrics.map((one) => ({ step: null, ...one })));
    expect((await shown(path)).metrics).toEqual({
      loss: { last: 'NaN', min: 2, max: 2, step: 1, time: time(1), count: 2 },
      'a/"<b>"': { last: '-Infinity', min: '-Infinity', max: 1e308, step: 0, time: time(1), count: 2 },
      ['n'.repeat(250)]: { last: 5e-324, min: 5e-324, max: 5e-324, step: -7, time: time(0), count: 1 },
    });
  });

  test.each([
    ['2026-02-02T03:04:05Z', '2026-02-02T03:04:05.000Z'],
    ['2026-02-02T03:04:05.678912+01:30', '2026-02-02T01:34:05.678Z'],
  ])('takes the time %s, which Python writes, as %s', async (given, kept) => {
    const path = await created();
    const { status, text } = await log(path, [{ name: 'loss', value: 1, time: given }]);
    expect(status, text).toBe(200);
    expect(await points(path)).toEqual([expect.objectContaining({ time: kept })]);
  });

  test.each(['2026-02-02', '2026-02-02T03:04:05', '0000-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59'])(
    'refuses the time %s, and says how one is written',
    async (time) => {
      const { status, json: problem } = await log(await created(), [{ name: 'loss', value: 1, time }]);
      expect([status, problem.errors]).toEqual([
        400,
        [
          {
            in: 'body',
            name: 'metrics.0.time',
            message: 'must be an instant with its offset, such as 2026-01-31T12:00:00.000Z',
          },
        ],
      ]);
    },
  );

  test('stores a point once, however often and in whatever company it is sent', async () => {
    const path = await created();
    const batch = [0, 1, 2].map((step) => ({ name: 'loss', value: step, step, time: time(step) }));
    const second = [{ name: 'loss', value: 9, step: 1, time: time(1) }, batch[2]!, batch[0]!, batch[0]!];
    const stored = [];
    for (const metrics of [batch, batch, second, [...batch, ...second]])
      stored.push((await log(path, metrics)).json.stored);
    expect(stored).toEqual([3, 0, 1, 0]);
    expect((await points(path)).map((one: { value: number }) => one.value)).toEqual([0, 1, 2, 9]);
    expect((await shown(path)).metrics.loss).toMatchObject({ count: 4, last: 2, max: 9 });
  });

  test('takes 1,000 points as lines, and counts those of several writers at once', async () => {
    const path = await created();
    const batches = Array.from({ length: 4 }, (_, writer) =>
      Array.from({ length: 1000 }, (__, step) => ({
        name: `m${writer}`,
        value: step,
        step,
        time: time(step),
      })),
    );
    const answers = await Promise.all(
      batches.map((batch) => service.call(logMetrics, { path, as, ...ndjson(batch) })),
    );
    expect(answers.map(({ status, json: { stored } }) => [status, stored])).toEqual(
      batches.map(() => [200, 1000]),
    );
    const { metrics } = await shown(path);
    expect(Object.keys(metrics).sort()).toEqual(['m0', 'm1', 'm2', 'm3']);
    expect(await points(path)).toHaveLength(4000);
    expect(metrics.m3).toMatchObject({ count: 1000, last: 999 });
  });

  test.each([
    ['no points', { metrics: [] }, 'metrics', /at least one/],
    [
      'too many',
      { metrics: Array.from({ length: 1001 }, () => ({ name: 'a', value: 1 })) },
      'metrics',
      /1000/,
    ],
    ['a text for a value', { metrics: [{ name: 'a', value: 'high' }] }, 'metrics.0.value', /number/],
    ['a step between', { metrics: [{ name: 'a', value: 1, step: 0.5 }] }, 'metrics.0.step', /whole/],
    ['a long name', { metrics: [{ name: 'a'.repeat(251), value: 1 }] }, 'metrics.0.name', /250/],
    ['another field', { metrics: [{ name: 'a', value: 1, unit: 's' }] }, 'metrics.0.unit', /not known here/],
  ])('refuses metrics with %s', async (_, body, name, message) => {
    const path = await created();
    const { status, json: problem } = await call(logMetrics, path, body);
    expect(status).toBe(400);
    expect(problem.errors[0]).toMatchObject({
      name: expect.stringMatching(name),
      message: expect.stringMatching(message),
    });
    expect(await points(path)).toEqual([]);
  });

  test('names the line that is no JSON', async () => {
    const path = await created();
    const sent = { body: '{"name": "a", "value": 1}\n\nnot\n', headers: ndjson([]).headers };
    const { status, json: problem } = await service.call(logMetrics, { path, as, ...sent });
    expect([status, problem.message]).toEqual([400, 'body: line 3 is not valid JSON']);
  });

  test('keeps numbers of params as they are written', async () => {
    const made = await service.call(create, {
      path: { project_id },
      as,
      headers: { 'Content-Type': 'application/json' },
      body: '{"params": {"seed": 9007199254740993, "lr": 1.0, "bias": -0.0, "eps": 1e-8}}',
    });
    const path = { project_id, experiment_id: made.json.experiment_id };
    const params = { seed: '9007199254740993', lr: '1.0', bias: '-0.0', eps: '1e-8' };
    expect((await shown(path)).params).toEqual(params);
    const more = await service.call(logParams, {
      path,
      as,
      headers: { 'Content-Type': 'application/json' },
      body: '{"params": {"id": 18446744073709551615, "lr": 1.0}}',
    });
    expect(more.json.params).toEqual({ ...params, id: '18446744073709551615' });
  });

  test('takes params once each', async () => {
    const path = await created({ params: { lr: 0.1 } });
    const more = await call(logParams, path, { params: { lr: '0.1', 'model.layers': 3 } });
    expect(more.status, more.text).toBe(200);
    expect(more.json.params).toEqual({ lr: '0.1', 'model.layers': '3' });
    const { status, json: problem } = await call(logParams, path, { params: { lr: 0.2, new: 1 } });
    expect([status, problem.message]).toEqual([409, expect.stringContaining('another value: lr.')]);
    expect((await shown(path)).params).toEqual({ lr: '0.1', 'model.layers': '3' });
  });

  test('ends as its client says; it is ranked all the while, and the best of its project while it has succeeded', async () => {
    const path = await created();
    await log(
      path,
      [0.5, 0.9, 0.7].map((value, step) => ({ name: 'accuracy', value, step })),
    );
    const ended = await call(update, path, { status: 'SUCCEEDED', note: 'good' });
    expect(ended.json).toMatchObject({
      status: 'SUCCEEDED',
      note: 'good',
      best: { criterion: 'accuracy', metric: 'accuracy', value: 0.9, step: 1 },
      stopped_at: expect.any(String),
    });
    const best = async () => (await service.call(readProject, { path, as })).json.best_experiment;
    expect(await best()).toMatchObject({ experiment_id: path.experiment_id, config_id: null });
    await call(update, path, { status: 'RUNNING' });
    expect(await shown(path)).toMatchObject({ status: 'RUNNING', stopped_at: null, best: { value: 0.9 } });
    expect(await best()).toBeNull();
    await call(update, path, { status: 'FAILED' });
    expect((await log(path, [{ name: 'late', value: 1 }])).json.stored).toBe(1);
  });

  test.each(['Infinity', 'NaN'])('ends unranked where its best is %s, and says so', async (value) => {
    const path = await created();
    await log(path, [{ name: 'val/acc', value, step: Number.MAX_SAFE_INTEGER }]);
    const ended = await call(update, path, { status: 'SUCCEEDED' });
    expect([ended.status, ended.json.best, ended.json.best_reason]).toEqual([
      200,
      null,
      "The project's criterion is accuracy, but val/acc had no finite value. NaN and infinity cannot be ranked.",
    ]);
  });

  test.each([1e16, 1e308, 5e-324, -1e20])('is ranked by %s, which no record could keep', async (value) => {
    const path = await created();
    await log(path, [{ name: 'accuracy', value, step: Number.MAX_SAFE_INTEGER }]);
    const ended = await call(update, path, { status: 'SUCCEEDED' });
    expect(ended.json.best).toMatchObject({ value, step: Number.MAX_SAFE_INTEGER });
  });

  test('has no job to cancel, and is deleted once it has ended', async () => {
    const path = await created();
    await log(path, [{ name: 'loss', value: 1 }]);
    expect((await call(cancel, path)).json).toMatchObject({
      status: 409,
      message: expect.stringContaining('PATCH'),
    });
    expect((await call(remove, path)).json).toMatchObject({
      status: 409,
      message: expect.stringContaining('PATCH'),
    });
    await call(update, path, { status: 'CANCELLED' });
    expect((await call(remove, path)).status).toBe(200);
    expect((await log(path, [{ name: 'loss', value: 2 }])).status).toBe(404);
    expect(JSON.stringify(await left())).not.toContain(path.experiment_id);
  });

  test('a training takes neither metrics nor a status from clients', async () => {
    const training = experimentOf(project_id, 0.5);
    await service.records.write(putExperiment(training));
    const path = { project_id, experiment_id: training.experiment_id };
    expect((await log(path, [{ name: 'loss', value: 1 }])).status).toBe(409);
    expect((await call(update, path, { status: 'FAILED' })).status).toBe(409);
    expect((await call(logParams, path, { params: { lr: 1 } })).json.params).toEqual({ lr: '1' });
  });

  test('goes with its project, also while it runs', async () => {
    const doomed = await newProject(service, as);
    const answer = await service.call(create, { path: { project_id: doomed }, as, ...json({}) });
    const path = { project_id: doomed, experiment_id: answer.json.experiment_id };
    await log(path, [{ name: 'loss', value: 1 }]);
    expect((await service.call(deleteProject, { path: { project_id: doomed }, as })).json).toMatchObject({
      deleted: { experiments: 1 },
      cancelled_jobs: 0,
    });
    expect((await call(read, path)).status).toBe(404);
    const batch = { BATCH_ENDPOINT: 'http://127.0.0.1:1' };
    await taskHandler(purge, { ...service.environment, ...batch })({});
    expect(JSON.stringify(await left())).not.toContain(path.experiment_id);
  });
});
