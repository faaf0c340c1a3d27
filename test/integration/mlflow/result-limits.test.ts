import { beforeAll, describe, expect, test } from 'vitest';
import { everySample } from '../../support/samples.ts';
import { type TestService, testService } from '../../support/service.ts';
import { type MlflowCaller, mlflowCaller, newRun } from './mlflow-caller.ts';

// `max_results` as MLflow's own server has it: SEARCH_MAX_RESULTS_THRESHOLD and its fellows in `mlflow/store/*/__init__.py`.

let service: TestService;
let ada: MlflowCaller;
beforeAll(async () => {
  service = await testService();
  ada = mlflowCaller(service, await service.user('developer'));
});

const source = 's3://models/churn';

/** Each in its turn, some at once. */
async function repeat(count: number, act: (number: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += 20)
    await Promise.all(Array.from({ length: Math.min(20, count - from) }, (_, index) => act(from + index)));
}

/** All rows of a search, page by page, and how many pages they were. */
async function allPages(field: string, ask: (page_token: string) => Promise<{ json: unknown }>) {
  const rows: Record<string, unknown>[] = [];
  let pages = 0;
  for (let token = ''; ; ) {
    const json = Object((await ask(token)).json);
    rows.push(...(json[field] ?? []));
    pages += 1;
    token = json.next_page_token ?? '';
    if (token === '') return { rows, pages };
  }
}

describe('a search takes as many results as MLflow’s server does', () => {
  let experiment_id: string;
  beforeAll(async () => {
    ({ experiment_id } = await newRun(ada));
  });
  const searches: readonly [
    string,
    most: number | undefined,
    (max_results: number) => Promise<{ status: number }>,
  ][] = [
    [
      'runs',
      50_000,
      (max_results) => ada.post('runs/search', { experiment_ids: [experiment_id], max_results }),
    ],
    ['experiments', 50_000, (max_results) => ada.post('experiments/search', { max_results })],
    [
      'logged models',
      undefined,
      (max_results) => ada.post('logged-models/search', { experiment_ids: [experiment_id], max_results }),
    ],
    [
      'registered models',
      1000,
      (max_results) => ada.get('registered-models/search', { max_results: String(max_results) }),
    ],
    [
      'versions',
      200_000,
      (max_results) => ada.get('model-versions/search', { max_results: String(max_results) }),
    ],
  ];
  test.each(searches)('%s', async (_, most, search) => {
    expect((await search(most ?? 1_000_000)).status).toBe(200);
    expect((await search(0)).status).toBe(400);
    if (most !== undefined) expect((await search(most + 1)).status).toBe(400);
  });
});

test('one answer has as many rows as were asked for, where they are small', async () => {
  await repeat(130, (number) => ada.post('registered-models/create', { name: `model ${number}` }));
  const filter = "name LIKE 'model %'";
  const models = await ada.get('registered-models/search', { filter, max_results: '1000' });
  expect(models.json.registered_models).toHaveLength(130);
  expect((await ada.get('registered-models/search', { filter })).json.registered_models).toHaveLength(100);
});

/** Rows of 300 KB, of which one answer takes fewer. */
const count = 17;

test.runIf(everySample)('rows that are large come in several answers, and every one once', async () => {
  const tags = ['a', 'b', 'c'].map((key) => ({ key, value: 'x'.repeat(99_000) }));
  await repeat(count, (number) => ada.post('registered-models/create', { name: `large ${number}`, tags }));
  await ada.post('registered-models/create', { name: 'versions' });
  // Versions of one model exclude each other; a client repeats the one that is refused for that.
  await repeat(count, async () => {
    const create = () => ada.post('model-versions/create', { name: 'versions', source, tags });
    await expect.poll(async () => (await create()).status).toBe(200);
  });
  const query = { max_results: '1000', filter: "name LIKE 'large%'" };
  const models = await allPages('registered_models', (page_token) =>
    ada.get('registered-models/search', { ...query, page_token }),
  );
  expect([models.pages, new Set(models.rows.map(({ name }) => name)).size]).toEqual([2, count]);
  const versions = await allPages('model_versions', (page_token) =>
    ada.get('model-versions/search', { filter: "name = 'versions'", page_token }),
  );
  expect([versions.pages, new Set(versions.rows.map(({ version }) => version)).size]).toEqual([2, count]);
  const { experiment_id } = await newRun(ada);
  const params = Array.from({ length: 48 }, (_, key) => ({ key: `p${key}`, value: 'x'.repeat(6000) }));
  await repeat(count, async () => {
    const made = await ada.post('logged-models', { experiment_id, name: 'large', params });
    expect([made.status, made.text.slice(0, 200)]).toEqual([200, expect.anything()]);
  });
  const logged = await allPages('models', (page_token) =>
    ada.post('logged-models/search', { experiment_ids: [experiment_id], page_token }),
  );
  expect([logged.pages, logged.rows.length]).toEqual([2, count]);
});

test('what is larger than a registered model or a version may be is refused', async () => {
  const name = 'too large';
  await ada.post('registered-models/create', { name });
  await ada.post('model-versions/create', { name, source });
  const value = 'x'.repeat(99_000);
  const answers = [];
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    answers.push(await ada.post('registered-models/set-tag', { name, key, value }));
    answers.push(await ada.post('model-versions/set-tag', { name, version: '1', key, value }));
  }
  const tags = ['a', 'b', 'c', 'd', 'e'].map((key) => ({ key, value }));
  answers.push(await ada.post('registered-models/create', { name: 'another', tags }));
  answers.push(await ada.post('model-versions/create', { name, source, tags }));
  expect(answers.map(({ status }) => status)).toEqual([
    200, 200, 200, 200, 200, 200, 400, 400, 400, 400, 400, 400,
  ]);
  expect(answers.at(-1)?.json.error_code).toBe('INVALID_PARAMETER_VALUE');
});

test('a search of runs names how many experiments it looks through at most', async () => {
  const { experiment_id } = await newRun(ada);
  const search = (count: number) =>
    ada.post('runs/search', { experiment_ids: Array.from({ length: count }, () => experiment_id) });
  expect(await search(1000)).toMatchObject({ status: 200 });
  expect(await search(1001)).toMatchObject({
    status: 400,
    json: {
      error_code: 'INVALID_PARAMETER_VALUE',
      message: "'experiment_ids' exceeds 1000 experiments, the maximum of one search.",
    },
  });
});
