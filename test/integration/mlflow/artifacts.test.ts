import { beforeAll, describe, expect, test } from 'vitest';
import { grantedService } from '../../support/granting-emulator.ts';
import type { TestService } from '../../support/service.ts';
import { type MlflowCaller, mlflowCaller, newRun } from './mlflow-caller.ts';

const root = 'api/2.0/mlflow-artifacts';

let service: TestService;
let ada: MlflowCaller;
/** Address of the artifacts of a run, and its id. */
let home: string;
let run_id: string;
beforeAll(async () => {
  const granted = await grantedService({ LIMIT_PROJECT_BYTES: '20000000' });
  service = granted.service;
  ada = mlflowCaller(service, await service.user('developer'));
  const run = await newRun(ada);
  ({ run_id } = run);
  home = `${run.experiment_id}/${run_id}/artifacts`;
  return granted.close;
});

const put = (path: string, body: string) => ada.call('PUT', `${root}/artifacts/${path}`, { body });
const list = async (path: string) => {
  const { json } = await ada.call('GET', `${root}/artifacts`, {
    query: new URLSearchParams({ path }).toString(),
  });
  return json.files;
};

// One story: each test goes on from the one before it.
describe('artifacts', { shuffle: false }, () => {
  test('are put, listed folder by folder, downloaded and deleted', async () => {
    for (const path of ['a.txt', 'deep/b.txt', 'deep/er/c d.txt', 'deep/er/e.txt'])
      expect((await put(`${home}/${path}`, `bytes of ${path}`)).status).toBe(200);
    expect(await list(home)).toEqual([
      { path: 'a.txt', is_dir: false, file_size: 14 },
      { path: 'deep', is_dir: true },
    ]);
    expect(await list(`${home}/deep`)).toEqual([
      { path: 'b.txt', is_dir: false, file_size: 19 },
      { path: 'er', is_dir: true },
    ]);
    const ofRun = await ada.get('artifacts/list', { run_id, path: 'deep/er' });
    expect(ofRun.json.files.map(({ path }: { path: string }) => path)).toEqual([
      'deep/er/c d.txt',
      'deep/er/e.txt',
    ]);
    const { status, headers } = await ada.call('GET', `${root}/artifacts/${home}/deep/er/c d.txt`);
    expect(status).toBe(302);
    expect(await (await fetch(headers['location'] ?? '')).text()).toBe('bytes of deep/er/c d.txt');
    await ada.call('DELETE', `${root}/artifacts/${home}/deep`);
    expect(await list(home)).toHaveLength(1);
    const gone = await fetch(headers['location'] ?? '');
    expect(gone.status).toBe(404);
  });

  test('replace the file of their path, whose object goes', async () => {
    await put(`${home}/same.txt`, 'one');
    const before = await ada.call('GET', `${root}/artifacts/${home}/same.txt`);
    await put(`${home}/same.txt`, 'another');
    const after = await ada.call('GET', `${root}/artifacts/${home}/same.txt`);
    expect(await (await fetch(after.headers['location'] ?? '')).text()).toBe('another');
    expect((await fetch(before.headers['location'] ?? '')).status).toBe(404);
  });

  test('come in parts, and a completion can be repeated', async () => {
    const begin = { path: 'large.bin', num_parts: 2 };
    const { json } = await ada.call('POST', `${root}/mpu/create/${home}/in`, { body: JSON.stringify(begin) });
    const parts: { part_number: number; etag: string }[] = [];
    const first = Buffer.alloc(5 * 1024 * 1024, 'a');
    for (const [index, { url, part_number }] of json.credentials.entries()) {
      const sent = await fetch(url, { method: 'PUT', body: index === 0 ? first : 'the rest' });
      parts.push({ part_number, etag: sent.headers.get('etag') ?? '' });
    }
    const body = JSON.stringify({ path: 'large.bin', upload_id: json.upload_id, parts });
    const complete = () => ada.call('POST', `${root}/mpu/complete/${home}/in`, { body });
    expect((await complete()).status).toBe(200);
    expect(await list(`${home}/in`)).toEqual([
      { path: 'large.bin', is_dir: false, file_size: first.length + 8 },
    ]);
    expect((await complete()).status).toBe(200);
    const presigned = await ada.call('GET', `${root}/presigned/${home}/in/large.bin`);
    expect(presigned.json.file_size).toBe(first.length + 8);
    await put(`${home}/in/large.bin`, 'newer');
    expect((await complete()).json.error_code).toBe('RESOURCE_DOES_NOT_EXIST');
  });

  test('that an upload leaves out, misses or aborts are not there', async () => {
    const begin = { path: 'never.bin', num_parts: 2 };
    const { json } = await ada.call('POST', `${root}/mpu/create/${home}`, { body: JSON.stringify(begin) });
    const { upload_id } = json;
    const parts = [{ part_number: 1, etag: 'x' }];
    const ask = (verb: string, more: object) =>
      ada.call('POST', `${root}/mpu/${verb}/${home}`, {
        body: JSON.stringify({ path: 'never.bin', ...more }),
      });
    expect((await ask('complete', { upload_id, parts })).status).toBe(400);
    expect((await ask('complete', { upload_id: 'x', parts })).status).toBe(400);
    expect((await ask('abort', { upload_id })).status).toBe(200);
    expect((await ask('complete', { upload_id, parts })).status).toBe(404);
    const missing = await ada.call('GET', `${root}/artifacts/${home}/never.bin`);
    expect([missing.status, missing.json.error_code]).toEqual([404, 'RESOURCE_DOES_NOT_EXIST']);
  });

  test('stay where they belong', async () => {
    const bob = mlflowCaller(service, await service.user('developer'));
    const other = await newRun(bob);
    const [project] = home.split('/');
    const refused = [
      await put(`${home}/../../x`, 'x'),
      await put(`${home}/a\\b`, 'x'),
      await put(`${home}/${'x'.repeat(1001)}`, 'x'),
      await put(home, 'x'),
      await put(`${other.experiment_id}/${other.run_id}/artifacts/x`, 'x'),
      await put(`${project}/${other.run_id}/artifacts/x`, 'x'),
      await put('x', 'x'),
    ].map(({ status }) => status);
    expect(refused).toEqual([400, 400, 400, 400, 403, 404, 404]);
  });

  test('are no more than the project may hold', async () => {
    const { experiment_id, run_id: full } = await newRun(ada);
    const path = `${experiment_id}/${full}/artifacts/big`;
    const large = 'x'.repeat(4_300_000);
    const statuses: number[] = [];
    for (let index = 0; index < 5; index += 1) statuses.push((await put(`${path}${index}`, large)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 409]);
  });
});

describe('logged models', () => {
  test('are made of a run, with files of their own, params, tags and what was measured of them', async () => {
    const { experiment_id, run_id: source_run_id } = await newRun(ada);
    const params = [{ key: 'depth', value: '3' }];
    const made = await ada.post('logged-models', { experiment_id, name: 'tree', source_run_id, params });
    const { model_id, artifact_uri } = made.json.model.info;
    expect(model_id).toMatch(/^m-/);
    const files = artifact_uri.slice('mlflow-artifacts:/'.length);
    expect((await put(`${files}/MLmodel`, 'flavors: {}')).status).toBe(200);
    const point = { key: 'acc', timestamp: 1, step: 1, model_id, dataset_name: 'iris' };
    await ada.post('runs/log-metric', { ...point, run_id: source_run_id, value: 0.5 });
    await ada.post('runs/log-metric', { ...point, run_id: source_run_id, value: 0.9, step: 2 });
    await ada.call('PATCH', `api/2.0/mlflow/logged-models/${model_id}`, {
      body: JSON.stringify({ model_id, status: 'LOGGED_MODEL_READY' }),
    });
    const tags = [{ key: 'stage', value: 'best' }];
    await ada.call('PATCH', `api/2.0/mlflow/logged-models/${model_id}/tags`, {
      body: JSON.stringify({ tags }),
    });
    const { json } = await ada.get(`logged-models/${model_id}`, {});
    expect(json.model.info).toMatchObject({
      name: 'tree',
      status: 'LOGGED_MODEL_READY',
      source_run_id,
      tags,
    });
    expect(json.model.data.params).toEqual(params);
    expect(json.model.data.metrics).toMatchObject([
      { key: 'acc', value: 0.9, dataset_name: 'iris', run_id: source_run_id },
    ]);
    const found = await ada.post('logged-models/search', {
      experiment_ids: [experiment_id],
      filter: "metrics.acc > 0.8 AND params.depth = '3'",
      order_by: [{ field_name: 'metrics.acc', ascending: false }],
    });
    expect(found.json.models).toEqual([json.model]);
    const listed = await ada.get(`logged-models/${model_id}/artifacts/directories`, {});
    expect(listed.json.files).toEqual([{ path: 'MLmodel', is_dir: false, file_size: 11 }]);
    await ada.call('DELETE', `api/2.0/mlflow/logged-models/${model_id}`);
    expect((await ada.get(`logged-models/${model_id}`, {})).status).toBe(404);
  });

  test('are of the experiment of the run that made them', async () => {
    const [{ experiment_id }, other] = [await newRun(ada), await newRun(ada)];

    const made = await ada.post('logged-models', { experiment_id, source_run_id: other.run_id });

    expect(other.experiment_id).not.toBe(experiment_id);
    expect(made).toMatchObject({ status: 400, json: { error_code: 'INVALID_PARAMETER_VALUE' } });
    expect(made.json.message).toContain('source_run_id');
  });

  test('have every number that was measured of them, also those of a training that diverges', async () => {
    const { experiment_id, run_id } = await newRun(ada);
    const made = await ada.post('logged-models', { experiment_id, name: 'lost', source_run_id: run_id });
    const { model_id } = made.json.model.info;
    const values = ['NaN', 'Infinity', '-Infinity', 1e300, 5e-324, -1e-200, 2];
    const metrics = values.map((value, step) => ({
      ...{ key: `m${step}`, value, timestamp: 1, step, model_id },
    }));
    expect((await ada.post('runs/log-batch', { run_id, metrics })).status).toBe(200);
    const { json } = await ada.get(`logged-models/${model_id}`, {});
    const kept = json.model.data.metrics.map(({ key, value }: Record<string, unknown>) => [key, value]);
    expect(Object.fromEntries(kept)).toEqual(
      Object.fromEntries(metrics.map(({ key, value }) => [key, value])),
    );
  });
});
