import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint } from '../../../functions/mlflow/serve-mlflow.endpoint.ts';
import { hashPassword } from '../../../shared/accounts/password.ts';
import { setPassword } from '../../../shared/data/accounts/change-user.ts';
import { grantedService } from '../../support/granting-emulator.ts';
import type { TestService } from '../../support/service.ts';
import { type MlflowCaller, mlflowCaller, newRun } from './mlflow-caller.ts';

let service: TestService;
let ada: MlflowCaller;
beforeAll(async () => {
  const granted = await grantedService();
  service = granted.service;
  ada = mlflowCaller(service, await service.user('developer'));
  return granted.close;
});

describe('experiments', () => {
  test('are found by id and by name, with their tags', async () => {
    const tags = [{ key: 'team', value: 'vision' }];
    const { json } = await ada.post('experiments/create', { name: 'churn', tags });
    const expected = {
      name: 'churn',
      lifecycle_stage: 'active',
      artifact_location: `mlflow-artifacts:/${json.experiment_id}`,
      tags,
    };
    const byId = await ada.get('experiments/get', json);
    expect(byId.json.experiment).toMatchObject(expected);
    const byName = await ada.get('experiments/get-by-name', { experiment_name: 'churn' });
    expect(byName.json).toEqual(byId.json);
  });

  test('of one name are made once by whoever asks at the same moment', async () => {
    const made = await Promise.all([1, 2, 3].map(() => ada.post('experiments/create', { name: 'once' })));
    const ids = made.flatMap(({ status, json }) => (status === 200 ? [json.experiment_id] : []));
    expect(new Set(ids).size).toBe(1);
    const again = await ada.post('experiments/create', { name: 'once' });
    expect([again.status, again.json.error_code]).toEqual([400, 'RESOURCE_ALREADY_EXISTS']);
  });

  test('0 is the caller\'s "Default", one for each', async () => {
    const { json } = await ada.get('experiments/get', { experiment_id: '0' });
    expect(json.experiment.name).toBe('Default');
    const bob = mlflowCaller(service, await service.user('developer'));
    const other = await bob.get('experiments/get', { experiment_id: '0' });
    expect(other.json.experiment.experiment_id).not.toBe(json.experiment.experiment_id);
  });

  test('are marked as deleted and restored, and found by that', async () => {
    const { json } = await ada.post('experiments/create', { name: 'old' });
    await ada.post('experiments/delete', json);
    const search = { filter: "name = 'old'" };
    const namesOf = async (view_type: string) =>
      (await ada.post('experiments/search', { ...search, view_type })).json.experiments.length;
    expect([await namesOf('ACTIVE_ONLY'), await namesOf('DELETED_ONLY'), await namesOf('ALL')]).toEqual([
      0, 1, 1,
    ]);
    const run = await ada.post('runs/create', json);
    expect([run.status, run.json.error_code]).toEqual([400, 'INVALID_PARAMETER_VALUE']);
    await ada.post('experiments/restore', json);
    expect(await namesOf('ACTIVE_ONLY')).toBe(1);
  });

  test('of somebody else are read, and changed by nobody but them', async () => {
    const { experiment_id, run_id } = await newRun(ada);
    const bob = mlflowCaller(service, await service.user('developer'));
    expect((await bob.get('runs/get', { run_id })).status).toBe(200);
    const refused = [
      await bob.post('runs/create', { experiment_id }),
      await bob.post('runs/log-metric', { run_id, key: 'a', value: 1, timestamp: 1 }),
      await bob.post('runs/set-tag', { run_id, key: 'a', value: 'b' }),
      await bob.post('runs/delete', { run_id }),
      await bob.post('experiments/delete', { experiment_id }),
      await bob.post('experiments/update', { experiment_id, new_name: 'taken' }),
      await bob.post('runs/log-batch', { run_id, params: [{ key: 'a', value: '1' }] }),
      await bob.post('runs/update', { run_id, status: 'FAILED' }),
      await bob.post('runs/log-model', { run_id, model_json: '{}' }),
      await bob.post('logged-models', { experiment_id, name: 'taken' }),
      await bob.call('PUT', `api/2.0/mlflow-artifacts/artifacts/${experiment_id}/${run_id}/artifacts/x`, {
        body: 'x',
      }),
    ];
    expect(refused.map(({ status, json }) => [status, json.error_code])).toEqual(
      refused.map(() => [403, 'PERMISSION_DENIED']),
    );
  });
});

describe('runs', () => {
  test('keep every metric, the greatest point of each as the latest, whatever numbers they are', async () => {
    const { run_id } = await newRun(ada);
    const point = (key: string, value: unknown, step: number, timestamp = 1000) => ({
      key,
      value,
      step,
      timestamp,
    });
    const metrics = [
      point('loss', 0.5, 1),
      point('loss', 0.25, 2),
      point('loss', 0.75, 0, 5000),
      point('nan', 'NaN', 3),
      point('up', 'Infinity', 3),
      point('down', '-Infinity', 3),
      point('large', 1e308, 3),
    ];
    expect((await ada.post('runs/log-batch', { run_id, metrics })).status).toBe(200);
    // A client repeats a request whose answer it did not get.
    await ada.post('runs/log-batch', { run_id, metrics });
    const { json } = await ada.get('runs/get', { run_id });
    const latest = Object.fromEntries(
      json.run.data.metrics.map(({ key, value, step }: Record<string, unknown>) => [key, [value, step]]),
    );
    expect(latest).toEqual({
      loss: [0.25, 2],
      nan: ['NaN', 3],
      up: ['Infinity', 3],
      down: ['-Infinity', 3],
      large: [1e308, 3],
    });
    const history = await ada.get('metrics/get-history', { run_id, metric_key: 'loss' });
    expect(history.json.metrics).toHaveLength(3);
    expect(history.json).not.toHaveProperty('next_page_token');
    const page = await ada.get('metrics/get-history', { run_id, metric_key: 'loss', max_results: '2' });
    const rest = await ada.get('metrics/get-history', {
      ...{ run_id, metric_key: 'loss', max_results: '2' },
      page_token: page.json.next_page_token,
    });
    expect([...page.json.metrics, ...rest.json.metrics]).toEqual(history.json.metrics);
  });

  test('answer a long history in pages, whatever the size of its points', async () => {
    const { run_id } = await newRun(ada);
    const key = `é${'n'.repeat(249)}`;
    const logged: object[] = [];
    for (let from = 0; from < 14_000; from += 1000) {
      const metrics = Array.from({ length: 1000 }, (_, index) => {
        const step = index % 2 === 0 ? from + index : -(from + index);
        const value = index === 7 ? 'NaN' : index === 8 ? 1e-7 : (from + index) / 7;
        return { key, value, timestamp: 1_700_000_000_000 + index, step };
      });
      logged.push(...metrics);
      expect((await ada.post('runs/log-batch', { run_id, metrics })).status).toBe(200);
    }
    const pages: object[][] = [];
    for (let page_token: string | undefined = ''; page_token !== undefined; ) {
      const { json } = await ada.get('metrics/get-history', { run_id, metric_key: key, page_token });
      pages.push(json.metrics);
      page_token = json.next_page_token;
    }
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat()).toEqual(logged);
  });

  test('take points in every form of numbers beside plain ones, and name the one that is wrong', async () => {
    const { run_id } = await newRun(ada);
    const plain = { key: 'loss', value: 0.5, timestamp: 10, step: 1 };
    const written = { key: 'loss', value: '0.25', timestamp: '11', step: '2', note: 'unknown' };
    const { step: _, ...stepless } = { ...plain, value: 0.75 };
    const metrics = [plain, written, stepless, plain, { ...plain, model_id: '' }];
    expect((await ada.post('runs/log-batch', { run_id, metrics })).status).toBe(200);
    const { json } = await ada.get('metrics/get-history', { run_id, metric_key: 'loss' });
    expect(json.metrics).toEqual([
      plain,
      { ...plain, value: 0.25, timestamp: 11, step: 2 },
      { ...plain, value: 0.75, step: 0 },
    ]);
    for (const [wrong, named] of [
      [{ ...plain, key: '../up' }, 'metrics[1].key'],
      [{ ...plain, timestamp: -1 }, 'metrics[1].timestamp'],
      [{ ...plain, step: 0.5 }, 'metrics[1].step'],
      [{ ...plain, value: 'high' }, 'metrics[1].value'],
      [{ value: 1, timestamp: 1 }, 'metrics[1].key'],
      ['loss', 'metrics[1]'],
    ] as const) {
      const refused = await ada.post('runs/log-batch', { run_id, metrics: [plain, wrong] });
      expect([refused.status, refused.json.error_code]).toEqual([400, 'INVALID_PARAMETER_VALUE']);
      expect(refused.json.message).toContain(`'${named}'`);
    }
  });

  test('keep every point that many requests log at the same moment', async () => {
    const { run_id } = await newRun(ada);
    const steps = Array.from({ length: 30 }, (_, step) => step);
    const logged = await Promise.all(
      steps.map((step) =>
        ada.post('runs/log-metric', { run_id, key: 'loss', value: step, timestamp: step, step }),
      ),
    );
    expect(new Set(logged.map(({ status }) => status))).toEqual(new Set([200]));
    const { json } = await ada.get('metrics/get-history', { run_id, metric_key: 'loss' });
    expect(json.metrics).toHaveLength(steps.length);
  });

  test('keep a param once, and a tag as it was set last', async () => {
    const { run_id } = await newRun(ada);
    const param = { run_id, key: 'lr', value: '0.1' };
    expect((await ada.post('runs/log-parameter', param)).status).toBe(200);
    expect((await ada.post('runs/log-parameter', param)).status).toBe(200);
    const other = await ada.post('runs/log-parameter', { ...param, value: '0.2' });
    expect([other.status, other.json.error_code]).toEqual([400, 'INVALID_PARAMETER_VALUE']);
    await ada.post('runs/set-tag', { run_id, key: 'stage', value: 'one' });
    await ada.post('runs/set-tag', { run_id, key: 'stage', value: 'two' });
    await ada.post('runs/set-tag', { run_id, key: 'mlflow.runName', value: 'best' });
    await ada.post('runs/set-tag', { run_id, key: 'mlflow.note.content', value: '# Note' });
    const { json } = await ada.get('runs/get', { run_id });
    const { info, data } = json.run;
    expect(info.run_name).toBe('best');
    expect(data.params).toEqual([{ key: 'lr', value: '0.1' }]);
    expect(data.tags).toEqual(
      expect.arrayContaining([
        { key: 'stage', value: 'two' },
        { key: 'mlflow.runName', value: 'best' },
        { key: 'mlflow.note.content', value: '# Note' },
      ]),
    );
  });

  test('end as their client says, and are found by what they are', async () => {
    const { experiment_id, run_id } = await newRun(ada);
    const other = (await ada.post('runs/create', { experiment_id })).json.run.info.run_id;
    await ada.post('runs/log-batch', {
      run_id,
      metrics: [{ key: 'acc', value: 0.9, timestamp: 1, step: 1 }],
      params: [{ key: 'model', value: 'tree' }],
    });
    const end = { run_id, status: 'FINISHED', end_time: 1_700_000_100_000 };
    const { json } = await ada.post('runs/update', end);
    expect(json.run_info).toMatchObject({
      status: 'FINISHED',
      end_time: end.end_time,
      start_time: 1_700_000_000_000,
    });
    const search = async (filter: string, more: object = {}): Promise<string[]> => {
      const found = await ada.post('runs/search', { experiment_ids: [experiment_id], filter, ...more });
      return found.json.runs.map((run: { info: { run_id: string } }) => run.info.run_id);
    };
    expect(
      await search("metrics.acc > 0.8 AND params.model LIKE 'tr%' AND attributes.status = 'FINISHED'"),
    ).toEqual([run_id]);
    expect(await search('metrics.acc < 0.8')).toEqual([]);
    expect(await search('', { order_by: ['metrics.acc DESC'] })).toEqual([run_id, other]);
    await ada.post('runs/delete', { run_id });
    expect(await search('')).toEqual([other]);
    expect(await search('', { run_view_type: 'DELETED_ONLY' })).toEqual([run_id]);
    // The lists of the service leave it out, too.
    const listed = async (query: string) => {
      const path = { project_id: String(experiment_id) };
      const { json } = await service.call(listExperiments, { path, query, as: ada.user });
      return json.map((one: { experiment_id: string }) => `${experiment_id}-${one.experiment_id}`);
    };
    expect([await listed(''), await listed('order_by=name')]).toEqual([[other], [other]]);
    const late = await ada.post('runs/set-tag', { run_id, key: 'a', value: 'b' });
    expect([late.status, late.json.error_code]).toEqual([400, 'INVALID_PARAMETER_VALUE']);
    await ada.post('runs/restore', { run_id });
    expect(await search('', { max_results: 1 })).toHaveLength(1);
  });

  test('are told what is wrong with a request by name, never with a 5xx', async () => {
    const { run_id, experiment_id } = await newRun(ada);
    const metric = { key: 'a', value: 1, timestamp: 1, step: 0 };
    const many = (length: number) => Array.from({ length }, () => metric);
    const bad: [string, object, string][] = [
      ['runs/log-metric', { ...metric, run_id, value: 'x' }, 'value'],
      ['runs/log-metric', { ...metric, run_id, timestamp: -1 }, 'timestamp'],
      ['runs/log-metric', { ...metric, run_id, timestamp: 1e18 }, 'timestamp'],
      ['runs/log-metric', { ...metric, run_id, key: '../a' }, 'key'],
      ['runs/log-metric', { ...metric, run_id, key: 'a"b' }, 'key'],
      ['runs/log-metric', { ...metric, run_id, step: 1.5 }, 'step'],
      ['runs/log-metric', { run_id, key: 'a', timestamp: 1 }, 'value'],
      ['runs/log-parameter', { run_id, key: 'x'.repeat(251), value: '' }, 'key'],
      ['runs/set-tag', { key: 'a', value: 'b' }, 'run_id'],
      ['runs/log-batch', { run_id, metrics: many(1001) }, 'metrics'],
      [
        'runs/log-batch',
        {
          run_id,
          params: [
            { key: 'a', value: '1' },
            { key: 'a', value: '1' },
          ],
        },
        "'a'",
      ],
      ['runs/update', { run_id, status: 'DONE' }, 'status'],
      ['runs/search', { experiment_ids: [experiment_id], filter: 'metrics.a >' }, 'filter'],
      ['runs/search', { experiment_ids: [experiment_id], order_by: ['nothing'] }, 'order_by'],
      ['runs/search', { experiment_ids: [experiment_id], page_token: 'x' }, 'page token'],
      ['runs/search', { experiment_ids: [experiment_id], max_results: 50_001 }, 'max_results'],
      ['experiments/create', { name: '' }, 'name'],
    ];
    for (const [path, body, named] of bad) {
      const { status, json } = await ada.post(path, body);
      expect([path, status, json.error_code]).toEqual([path, 400, 'INVALID_PARAMETER_VALUE']);
      expect(json.message).toContain(named);
    }
    for (const id of ['x', '0-0', `${experiment_id}-${experiment_id}`]) {
      const { status, json } = await ada.get('runs/get', { run_id: id });
      expect([status, json.error_code]).toEqual([404, 'RESOURCE_DOES_NOT_EXIST']);
    }
    for (const path of ['api/2.0/mlflow/traces', 'api/2.0/mlflow/gateway/secrets/list', 'nothing']) {
      const { status, json } = await ada.call('GET', path);
      expect([status, json.error_code]).toEqual([404, 'ENDPOINT_NOT_FOUND']);
    }
    const broken = await ada.call('POST', 'api/2.0/mlflow/runs/create', { body: '{' });
    expect([broken.status, broken.json.error_code]).toEqual([400, 'BAD_REQUEST']);
  });
});

test('a name and password are taken as credentials, as long as the password is the right one', async () => {
  const { user } = await service.user('developer');
  const change = async (of: typeof user, password: string) =>
    setPassword(service.accounts, of, await hashPassword(password), new Date().toISOString());
  const ask = (password: string) =>
    service.call(endpoint, {
      path: { mlflow_path: 'version' },
      method: 'GET',
      headers: { Authorization: `Basic ${Buffer.from(`${user.username}:${password}`).toString('base64')}` },
    });
  const present = await change(user, 'correct horse');
  const answers = await Promise.all([ask('correct horse'), ask('correct horse')]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers[0]?.text).toMatch(/^3\.\d+/);
  const wrong = await ask('battery staple');
  expect([wrong.status, wrong.json.error_code]).toEqual([401, 'UNAUTHENTICATED']);
  await change(present, 'another horse');
  expect((await ask('correct horse')).status).toBe(401);
  expect((await ask('another horse')).status).toBe(200);
});
