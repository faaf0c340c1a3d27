import { beforeAll, expect, test } from 'vitest';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { type TestService, testService } from '../../support/service.ts';
import { json } from '../users/body.ts';
import { type MlflowCaller, mlflowCaller, newRun } from './mlflow-caller.ts';

let service: TestService;
let ada: MlflowCaller;
beforeAll(async () => {
  service = await testService();
  ada = mlflowCaller(service, await service.user('developer'));
});

const series = (key: string, values: readonly unknown[]) => ({
  key,
  steps: values.map((_, step) => step),
  timestamps: values.map((_, step) => 1000 + step),
  values,
});

const historyOf = async (run_id: string, metric_key: string) => {
  const answer = await ada.get('metrics/get-history', { run_id, metric_key });
  return answer.json.metrics.map((point: { step: number; value: unknown }) => [point.step, point.value]);
};

const create = async (body: object) => {
  const { experiment_id } = (await ada.post('experiments/create', { name: `e${Math.random()}` })).json;
  return ada.post('runs/create', { experiment_id, ...body });
};

test('a run begins with its params, its tags and its points, and ends with a tag, in two requests', async () => {
  const values = [0.5, 'NaN', '-Infinity', 1e-300, 2];
  const begun = await create({
    start_time: 1000,
    tags: [{ key: 'a', value: 'b' }],
    params: [{ key: 'lr', value: '0.1' }],
    series: [series('loss', values), series('train/acc', [1])],
  });
  const { run_id } = begun.json.run.info;
  const ended = await ada.post('runs/update', {
    ...{ run_id, status: 'FINISHED', end_time: 5000 },
    tags: [{ key: 'done', value: 'yes' }],
  });

  expect(begun.json.run.data.metrics.map(({ key }: { key: string }) => key)).toEqual(['loss', 'train/acc']);
  expect(ended.status).toBe(200);
  const { run } = (await ada.get('runs/get', { run_id })).json;
  expect(run.info).toMatchObject({ status: 'FINISHED', start_time: 1000, end_time: 5000 });
  expect(run.data.params).toEqual([{ key: 'lr', value: '0.1' }]);
  expect(run.data.tags).toEqual(expect.arrayContaining([{ key: 'done', value: 'yes' }]));
  expect(await historyOf(run_id, 'loss')).toEqual(values.map((value, step) => [step, value]));
});

test('points in columns that are there already are not stored again', async () => {
  const { run_id } = await newRun(ada);
  const send = (values: readonly number[]) =>
    ada.post('runs/log-batch', { run_id, series: [series('loss', values)] });
  await send([1, 2]);
  await send([1, 2, 3]);
  await ada.post('runs/log-metric', { run_id, key: 'loss', value: 3, step: 2, timestamp: 1002 });

  expect(await historyOf(run_id, 'loss')).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
});

test.each([
  ['of different lengths', { ...series('loss', [1, 2]), steps: [1] }, 'same length'],
  ['that are no lists', { ...series('loss', [1]), values: 'x' }, 'must be a list'],
  ['with a text', series('loss', [1, 'much']), 'series[0].values[1]'],
  ['with half a step', { ...series('loss', [1]), steps: [0.5] }, 'must be an integer'],
  ['before 1970', { ...series('loss', [1]), timestamps: [-1] }, 'series[0].timestamps[0]'],
  ['of a name that is none', series('a//b', [1]), 'series[0].key'],
  ['beyond 10,000', series('loss', Array(10_001).fill(1)), 'exceeds 10000 points'],
])('columns %s are refused, and begin no run', async (_, refused, reason) => {
  const { run_id, experiment_id } = await newRun(ada);

  const logged = await ada.post('runs/log-batch', { run_id, series: [refused] });
  const begun = await ada.post('runs/create', { experiment_id, series: [refused] });

  for (const answer of [logged, begun]) {
    expect([answer.status, answer.json.error_code]).toEqual([400, 'INVALID_PARAMETER_VALUE']);
    expect(answer.json.message).toContain(reason);
  }
  expect((await ada.post('runs/search', { experiment_ids: [experiment_id] })).json.runs).toHaveLength(1);
});

test('the rules of a project judge the points with which a run begins', async () => {
  const { experiment_id } = (await ada.post('experiments/create', { name: 'ruled' })).json;
  const rules = [{ nan: 'loss', do: 'stop' }];
  await service.call(updateProject, {
    path: { project_id: experiment_id },
    ...json({ rules }),
    as: ada.user,
  });

  const begun = await ada.post('runs/create', { experiment_id, series: [series('loss', [1, 'NaN'])] });

  const { run } = (await ada.get('runs/get', { run_id: begun.json.run.info.run_id })).json;
  expect(run.info.status).toBe('KILLED');
});
