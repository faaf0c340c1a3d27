import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { importRuns } from '../../../cli/import/import-runs.ts';
import type { RunSource, SourceModel, SourceRun } from '../../../cli/import/source.ts';
import { mlflowFolder } from '../../../cli/import/sources/mlflow-folder.ts';
import { mlflowServer } from '../../../cli/import/sources/mlflow-server.ts';
import { TrackingApi } from '../../../cli/import/tracking-api.ts';
import { testService } from '../../support/service.ts';
import { mlflowBridge } from './mlflow-bridge.ts';
import { readAll } from './read-whole.ts';

const run = 'a'.repeat(32);

test('a folder of MLflow says what of no run it leaves out, and which run lacks its description', async () => {
  const top = await mkdtemp(join(tmpdir(), 'odd-'));
  onTestFinished(() => rm(top, { recursive: true }));
  const model = (source: string) => `model_id: m\nname: net\nsource_run_id: ${source}\n`;
  const files = {
    '1/meta.yaml': "experiment_id: '1'\nname: odd\nlifecycle_stage: active\n",
    [`1/${run}/meta.yaml`]: `run_id: ${run}\nrun_name: one\nstatus: 3\nlifecycle_stage: active\n`,
    [`1/${run}/params/lr`]: '0.1',
    [`1/${run}/artifacts/a.txt`]: 'a',
    [`1/${'b'.repeat(32)}/params/lr`]: '0.1',
    '1/traces/tr-1/request_metadata/mlflow.sourceRun': run,
    '1/traces/tr-2/request_metadata/mlflow.user': 'ada',
    '1/models/m-1/meta.yaml': model(run),
    '1/models/m-1/params/lr': '0.1',
    '1/models/m-1/params/depth': '3',
    '1/models/m-1/tags/mlflow.user': 'ada',
    '1/models/m-2/meta.yaml': model('null'),
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(top, path)), { recursive: true });
    await writeFile(join(top, path), content);
  }
  await symlink('/etc/hostname', join(top, `1/${run}/artifacts/link`));
  const source = mlflowFolder(top);

  const { one } = Object.fromEntries(await readAll(source));

  expect(one?.omitted).toEqual({
    'traces of MLflow': 1,
    'params and tags of logged models': 1,
    'links to files elsewhere': 1,
  });
  expect(Object.fromEntries(source.omittedBeside?.() ?? [])).toEqual({
    'traces of MLflow without a run': 1,
    'logged models without a run': 1,
  });
  expect(source.unread?.()).toEqual([expect.stringContaining(`${'b'.repeat(32)} has no meta.yaml`)]);
});

/** A tracking server of MLflow 3 with one run. It lists prompts, which are registered models, only if it is asked to. */
async function serverOfThree(): Promise<TrackingApi> {
  const traceOf = (source: string) => ({ request_metadata: [{ key: 'mlflow.sourceRun', value: source }] });
  const modelOf = (model_id: string, source_run_id: string) => ({
    info: { model_id, name: 'net', source_run_id, tags: [{ key: 'team', value: 'vision' }] },
    data: { params: [{ key: 'lr', value: '0.1' }] },
  });
  const info = { run_id: run, run_name: 'one', lifecycle_stage: 'active', status: 'FINISHED' };
  const found = { info, data: { params: [{ key: 'lr', value: '0.1' }] } };
  const answers: Record<string, object> = {
    '/api/2.0/mlflow/experiments/search': {
      experiments: [{ experiment_id: '1', name: 'odd', lifecycle_stage: 'active' }],
    },
    '/api/2.0/mlflow/runs/search': { runs: [found] },
    '/api/2.0/mlflow/runs/get': { run: found },
    '/api/2.0/mlflow/artifacts/list': {},
    '/api/2.0/mlflow/logged-models/search': { models: [modelOf('m-1', run), modelOf('m-2', '')] },
    '/api/2.0/mlflow/logged-models/m-1/artifacts/directories': {},
    '/api/2.0/mlflow/traces': { traces: [traceOf(run)], next_page_token: 'more' },
    '/api/2.0/mlflow/traces?more': { traces: [traceOf(run), { request_metadata: [] }] },
    '/api/3.0/mlflow/datasets/search': { datasets: [{}] },
    '/api/2.0/mlflow/registered-models/search': { registered_models: [{ name: 'net' }] },
    '/api/2.0/mlflow/registered-models/search?prompts': { registered_models: [{ name: 'greet' }] },
    '/api/2.0/mlflow/model-versions/search': {},
    '/api/2.0/mlflow/model-versions/search?prompts': { model_versions: [{ name: 'greet', version: 1 }] },
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
    const asks = searchParams.get('filter')?.includes('is_prompt') ? '?prompts' : '';
    const answer = answers[pathname + (searchParams.get('page_token') ? '?more' : asks)];
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return new TrackingApi(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, undefined);
}

test('a server of MLflow says how many traces it has, and brings its prompts', async () => {
  const source = mlflowServer(await serverOfThree());

  const { one } = Object.fromEntries(await readAll(source));
  const models = await Array.fromAsync(source.models());

  expect(one?.omitted).toEqual({ 'traces of MLflow': 2, 'params and tags of logged models': 1 });
  expect(Object.fromEntries(source.omittedBeside?.() ?? [])).toEqual({
    'traces of MLflow without a run': 1,
    'logged models without a run': 1,
    'evaluation datasets of MLflow': 1,
  });
  expect(models.map(({ name, versions }) => [name, versions.length])).toEqual([
    ['net', 0],
    ['greet', 1],
  ]);
});

async function target(): Promise<TrackingApi> {
  const service = await testService();
  const bridge = await mlflowBridge(service, await service.user('developer'));
  onTestFinished(() => bridge.close().then(() => undefined));
  return new TrackingApi(bridge.url, undefined);
}

/** A source of one run with these tags. */
const sourceOf = (tags: SourceRun['tags'], others: Partial<RunSource> = {}): RunSource => ({
  async *experiments() {
    yield { id: 'e', name: 'odd', tags: [], isDeleted: false };
  },
  async *runs() {
    yield {
      ...{ id: 'r', name: 'one', status: 'FINISHED', user: '', start: 1, end: 2, isDeleted: false },
      ...{ params: [], tags, datasets: [], artifactUri: '' },
    };
  },
  async *points() {},
  async *files() {},
  openFile: () => Promise.reject(new Error('There is no file.')),
  async *models() {},
  ...others,
});

const bring = (source: RunSource, api: TrackingApi) =>
  importRuns({ source, api, rename: (name) => name }, () => undefined);

test('of tags with one name the last comes, the others are kept, and what is of no run is in the table', async () => {
  const api = await target();
  const tags = [
    { key: 'owner', value: 'true' },
    { key: 'owner', value: 'ada' },
    { key: 'team', value: 'a' },
    { key: 'team', value: 'a' },
    { key: 'mlflow.parentRunId', value: 'elsewhere' },
  ];

  const { omitted } = await bring(sourceOf(tags, { omittedBeside: () => new Map([['traces', 3]]) }), api);

  expect(omitted).toEqual({
    'tags of one name: the last one here, the others in import/values.json': 1,
    'runs whose parent is not brought': 1,
    traces: 3,
  });
  const [here] = (await readAll(mlflowServer(api))).values();
  expect(here?.tags).toMatchObject({ owner: 'ada', team: 'a' });
  expect(JSON.parse(here?.files.get('import/values.json') ?? '').tags).toEqual([
    { key: 'owner', value: 'true' },
  ]);
});

test('prompts, and versions of models at a path of another disk, come as MLflow has them', async () => {
  const api = await target();
  const model = (name: string, source: string, tags: SourceRun['tags'] = []): SourceModel => ({
    ...{ name, description: '', tags: [], aliases: [] },
    versions: [{ number: 1, description: '', source, runId: '', runLink: '', stage: 'None', tags }],
  });
  const models = async function* () {
    yield model('greet', 'dummy-source', [{ key: 'mlflow.prompt.text', value: 'Hello {{name}}' }]);
    yield model('net', '/home/ada/../net');
  };

  const brought = await bring(sourceOf([], { models }), api);

  expect(brought).toMatchObject({ models: 2, versions: 2, failures: [] });
  expect(brought.omitted).toEqual({
    'versions of models whose files are not brought: they are at a path elsewhere': 1,
  });
  const [greet, net] = await Array.fromAsync(mlflowServer(api).models());
  expect(greet?.versions[0]?.tags).toEqual([{ key: 'mlflow.prompt.text', value: 'Hello {{name}}' }]);
  expect(net?.versions[0]?.source).toBe(`import:${encodeURIComponent('/home/ada/../net')}`);
});
