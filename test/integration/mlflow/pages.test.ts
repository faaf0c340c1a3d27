import { beforeAll, expect, test } from 'vitest';
import { type TestService, testService } from '../../support/service.ts';
import { type MlflowCaller, mlflowCaller, newRun } from './mlflow-caller.ts';

// What MLflow's pages ask for, and its Python client does not.

let service: TestService;
let ada: MlflowCaller;
beforeAll(async () => {
  service = await testService();
  ada = mlflowCaller(service, await service.user('developer'));
});

const points = (count: number) =>
  Array.from({ length: count }, (_, step) => ({ key: 'loss', value: step, timestamp: 1000 + step, step }));

test('the first points of several runs come in one answer', async () => {
  const { run_id } = await newRun(ada);
  const other = await newRun(ada);
  await ada.post('runs/log-batch', { run_id, metrics: points(3) });
  await ada.post('runs/log-batch', { run_id: other.run_id, metrics: points(2) });
  const ids = `run_id=${run_id}&run_id=${other.run_id}`;
  const all = await ada.call('GET', 'ajax-api/2.0/mlflow/metrics/get-history-bulk', {
    query: `${ids}&metric_key=loss`,
  });
  expect(all.json.metrics).toHaveLength(5);
  expect(all.json.metrics[0]).toEqual({ key: 'loss', value: 0, timestamp: 1000, step: 0, run_id });
  const some = await ada.get('metrics/get-history-bulk', { run_id, metric_key: 'loss', max_results: '2' });
  expect(some.json.metrics.map(({ step }: { step: number }) => step)).toEqual([0, 1]);
  expect((await ada.get('metrics/get-history-bulk', { metric_key: 'loss' })).json).toEqual({
    error_code: 'INVALID_PARAMETER_VALUE',
    message: 'GetMetricHistoryBulk request must specify at least one run_id.',
  });
});

test('intervals of several runs are sampled at the same steps', async () => {
  const { run_id } = await newRun(ada);
  const other = await newRun(ada);
  await ada.post('runs/log-batch', { run_id, metrics: points(10) });
  await ada.post('runs/log-batch', { run_id: other.run_id, metrics: points(20) });
  const { json } = await ada.call('GET', 'ajax-api/2.0/mlflow/metrics/get-history-bulk-interval', {
    query: `run_ids=${run_id}&run_ids=${other.run_id}&metric_key=loss&max_results=5`,
  });
  const stepsOf = (id: string) =>
    json.metrics
      .filter((point: { run_id: string }) => point.run_id === id)
      .map(({ step }: { step: number }) => step);
  expect(stepsOf(run_id)).toEqual([0, 4, 8, 9]);
  expect(stepsOf(other.run_id)).toEqual([0, 4, 8, 9, 12, 16, 19]);
});

test('the data sets that runs of an experiment have read are listed once', async () => {
  const { run_id, experiment_id } = await newRun(ada);
  const dataset = { name: 'digits', digest: 'd1', source_type: 'http', source: 'https://example.com/digits' };
  const datasets = [{ dataset, tags: [{ key: 'mlflow.data.context', value: 'training' }] }];
  await ada.post('runs/log-inputs', { run_id, datasets });
  const second = await ada.post('runs/create', { experiment_id });
  await ada.post('runs/log-inputs', { run_id: second.json.run.info.run_id, datasets });
  const { json } = await ada.post('experiments/search-datasets', { experiment_ids: [experiment_id] });
  expect(json.dataset_summaries).toEqual([
    { experiment_id, name: 'digits', digest: 'd1', context: 'training' },
  ]);
  expect((await ada.post('experiments/search-datasets', {})).status).toBe(400);
});

test('files are sent to a run, and fetched of a run, a model and a version', async () => {
  const { run_id, experiment_id } = await newRun(ada);
  const upload = (query: string, body = 'hello') =>
    ada.call('POST', 'ajax-api/2.0/mlflow/upload-artifact', { query, body });
  expect((await upload(`run_uuid=${run_id}&path=a/b.txt`)).status).toBe(200);
  expect((await upload(`run_uuid=${run_id}`)).json.message).toBe('Request must specify path.');
  expect((await upload(`run_uuid=${run_id}&path=../b.txt`)).status).toBe(400);
  expect((await upload(`run_uuid=${run_id}&path=b.txt`, '')).status).toBe(400);
  const bytesAt = async (path: string, query: string) => {
    const { status, headers } = await ada.call('GET', path, { query });
    expect(status).toBeGreaterThanOrEqual(302);
    return (await fetch(headers['location'] ?? '')).text();
  };
  expect(await bytesAt('get-artifact', `run_id=${run_id}&path=a/b.txt`)).toBe('hello');
  const source = `mlflow-artifacts:/${experiment_id}/${run_id}/artifacts/a`;
  await ada.post('registered-models/create', { name: 'paged' });
  await ada.post('model-versions/create', { name: 'paged', source });
  const version = 'name=paged&version=1&path=b.txt';
  expect(await bytesAt('model-versions/get-artifact', version)).toBe('hello');
  const { json } = await ada.post('logged-models', { experiment_id, name: 'net' });
  const { model_id, artifact_uri } = json.model.info;
  const location = artifact_uri.replace('mlflow-artifacts:/', '');
  const path = `api/2.0/mlflow-artifacts/artifacts/${location}/MLmodel`;
  await ada.call('PUT', path, { body: 'flavors' });
  const file = `ajax-api/2.0/mlflow/logged-models/${model_id}/artifacts/files`;
  expect(await bytesAt(file, 'artifact_file_path=MLmodel')).toBe('flavors');
});
