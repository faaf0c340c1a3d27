import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { importRuns } from '../../../cli/import/import-runs.ts';
import type { RunSource } from '../../../cli/import/source.ts';
import { mlflowFolder } from '../../../cli/import/sources/mlflow-folder.ts';
import { mlflowServer } from '../../../cli/import/sources/mlflow-server.ts';
import { neptuneExport } from '../../../cli/import/sources/neptune-export.ts';
import { TrackingApi } from '../../../cli/import/tracking-api.ts';
import { testService } from '../../support/service.ts';
import { mlflowBridge } from './mlflow-bridge.ts';
import { readAll, readSource, readWhole, valuesOf } from './read-whole.ts';
import { ended, field, item, writeLog } from './wandb-log-file.ts';
import { writeZips } from './zips.ts';

const fixture = (name: string) => join(import.meta.dirname, '../../fixtures/import', name);

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'odd-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

const archive = (facts: object, messages: readonly (readonly [string, object])[], files: object = {}) => ({
  'experiment.json': facts,
  'messages.json': messages.map(([type, payload]) => JSON.stringify({ type, payload })).join('\n'),
  ...files,
});

const metric = (metricName: string, metricValue: number, step: number, more: object = {}) =>
  [
    'metric_msg',
    { local_timestamp: 1_700_000_000_000, metric: { metricName, metricValue, step, ...more }, ...more },
  ] as const;

test('Comet keeps values of several contexts apart, and so do their epochs, params and files', async () => {
  const top = await scratch();
  const upload = (file_path: string, fileName: string) =>
    ['file_upload', { file_path, upload_type: 'asset', additional_params: { fileName } }] as const;
  await writeZips({
    [join(top, 'a.zip')]: archive(
      { offline_id: 'a', project_name: 'odd', stop_time: 2 },
      [
        metric('loss', 1, 0, { context: 'train', epoch: 0 }),
        metric('loss', 2, 0, { context: 'validate', epoch: 10 }),
        metric('epoch', 7, 0),
        ['parameter_msg', { params: { paramName: 'layers', paramValue: [1, 2] } }],
        upload('tmp1', '/home/ada/train.py'),
        ['3d-image', { items: [{ file_path: 'tmp2.jsonl' }] }],
        ['remote_file', { remote_uri: 's3://bucket/key' }],
      ],
      { tmp1: 'a program', 'tmp2.jsonl': 'points' },
    ),
  });

  const { a } = (await readSource('comet', top)).runs;

  expect(valuesOf(a?.points ?? [], 'train_loss')).toEqual([[0, 1]]);
  expect(valuesOf(a?.points ?? [], 'validate_loss')).toEqual([[0, 2]]);
  expect(valuesOf(a?.points ?? [], 'epoch')).toEqual([[0, 7]]);
  expect(valuesOf(a?.points ?? [], 'train_epoch')).toEqual([[0, 0]]);
  expect(valuesOf(a?.points ?? [], 'validate_epoch')).toEqual([[0, 10]]);
  expect(a?.params).toEqual({ layers: '[1, 2]' });
  expect(a?.files.get('assets/home/ada/train.py')).toBe('a program');
  expect(a?.files.get('comet/tmp2.jsonl')).toContain('points');
  expect(a?.files.get('import/comet.ndjson')).toContain('s3://bucket/key');
  expect(a?.omitted).toEqual({
    'files that are kept elsewhere: their addresses are in import/comet.ndjson': 1,
  });
});

test('what was added to an experiment of Comet later belongs to it', async () => {
  const top = await scratch();
  await writeZips({
    // Names of the parts are in any order.
    [join(top, 'a-1.zip')]: archive(
      { offline_id: 'a', project_name: null, resume_strategy: 'get', start_time: 30, stop_time: 40 },
      [metric('loss', 0.5, 1)],
    ),
    [join(top, 'a.zip')]: archive(
      { offline_id: 'a', project_name: 'odd', resume_strategy: 'create', start_time: 10, stop_time: 20 },
      [metric('loss', 1, 0)],
    ),
  });

  const { runs, unread } = await readSource('comet', top);

  expect(unread).toEqual([]);
  expect(runs['a']?.experiment.name).toBe('odd');
  expect(runs['a']?.run).toMatchObject({ start: 10, end: 40 });
  expect(valuesOf(runs['a']?.points ?? [], 'loss')).toEqual([
    [0, 1],
    [1, 0.5],
  ]);
});

test('ClearML keeps a folder beside its zip: both are one session, with all that its task says', async () => {
  const top = await scratch();
  const task = {
    ...{ id: 'offline-1', name: 'first', project_name: 'odd', offline_folder: '/elsewhere' },
    execution: {
      docker_cmd: 'image',
      artifacts: [{ key: 'rows', uri: '/elsewhere/data/rows/frame.csv.gz' }],
    },
  };
  const event = (type: string, more: object) => ({ type, timestamp: 1, metric: 'm', variant: 'v', ...more });
  const events = [
    event('training_stats_scalar', { iter: -(2 ** 31), value: 0.9 }),
    event('training_debug_image', { iter: 3, key: 'page.html' }),
  ];
  const files = {
    'task.json': JSON.stringify(task),
    'metrics.jsonl': `${JSON.stringify(events)}\n`,
    'data/rows/frame.csv.gz': 'rows',
    'data/page.html': '<b>',
  };
  await write(join(top, 'offline-1'), files);
  await writeZips({ [join(top, 'offline-1.zip')]: files });

  const { runs, unread } = await readSource('clearml', top);

  const { first } = runs;
  expect(unread).toEqual([]);
  // A single value has no iteration.
  expect(valuesOf(first?.points ?? [], 'm/v')).toEqual([[0, 0.9]]);
  expect(first?.files.get('artifacts/rows.csv.gz')).toBe('rows');
  expect(first?.files.get('media/files/m/v_step_3.html')).toBe('<b>');
  expect(first?.files.get('clearml/task.json')).toContain('"docker_cmd": "image"');
});

test('Trackio brings pictures in tables, and texts of the machine, and counts files of a project', async () => {
  const top = await scratch();
  await write(join(top, 'media/odd'), { 'a.png': 'one', 'b.png': 'two', 'files/saved.txt': 'saved' });
  const picture = (name: string) => ({ _type: 'trackio.image', file_path: `odd/${name}.png` });
  const database = new DatabaseSync(join(top, 'odd.db'));
  database.exec(
    'CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name TEXT, timestamp TEXT, step INTEGER, metrics TEXT)',
  );
  database.exec(
    'CREATE TABLE system_metrics (id INTEGER PRIMARY KEY, run_name TEXT, timestamp TEXT, metrics TEXT)',
  );
  const rows = [
    { at: 1, of: picture('a') },
    { at: 2, of: [picture('b')] },
  ];
  database
    .prepare("INSERT INTO metrics VALUES (NULL, 'r', '2026-01-02T03:04:05Z', 4, ?)")
    .run(JSON.stringify({ t: { _type: 'trackio.table', _value: rows } }));
  database
    .prepare("INSERT INTO system_metrics VALUES (NULL, 'r', '2026-01-02T03:04:05Z', ?)")
    .run(JSON.stringify({ 'gpu/0/name': 'A100' }));
  database.close();

  const { runs, beside } = await readSource('trackio', top);

  const files = runs['r']?.files;
  expect(files?.get('media/image/t/of_step_4.png')).toBe('one');
  expect(files?.get('media/image/t/of.1_step_4.png')).toBe('two');
  expect(files?.get('import/history.ndjson')).toContain('"key": "system/gpu_0_name", "value": "A100"');
  expect(beside).toEqual({ 'files that Trackio saved for a project': 1 });
});

test('attributes of Neptune that change their type or have one name keep all values and files', async () => {
  const top = await scratch();
  await cp(fixture('neptune-odd'), top, { recursive: true });
  await symlink('/etc/hostname', join(top, 'files/odd/R-1/set/link'));

  const { points, files, omitted } = await readWhole(neptuneExport(top));

  expect(valuesOf(points, 'changes')).toEqual([[0, 9]]);
  expect(valuesOf(points, 'changes.value')).toEqual([[0, 0.5]]);
  const lines = (files.get('import/history.ndjson') ?? '')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual({ key: 'was', kind: 'string', value: 'a text' });
  expect(lines).toContainEqual({
    ...{ step: 0.5, time: '2026-01-02T00:00:01.000Z', key: 'text', value: 'second\nof two lines' },
  });
  expect([files.get('pictures_step_5.png'), files.get('pictures.1_step_5.png')]).toEqual(['one', 'two']);
  expect([files.get('x.png'), files.get('x.1.png')]).toEqual(['one', 'two']);
  expect(files.get('net.v2.png')).toBe('one');
  expect([files.get('text.log'), files.get('text.1.log')]).toEqual(['first\nsecond\nof two lines\n', 'log']);
  expect(files.get('set/a.txt')).toBe('a');
  // Times begin with the run, not in 1970.
  expect(Math.min(...points.map(({ timestamp }) => timestamp))).toBe(Date.UTC(2026, 0, 2));
  expect(omitted).toEqual({
    'values of attributes that have a later one: in import/history.ndjson': 1,
    'links to files elsewhere': 1,
    'values of the kind matrix': 1,
  });
});

test('links that lead to records elsewhere are counted, whichever tracker has them', async () => {
  const top = await scratch();
  await mkdir(join(top, 'runs'));
  await mkdir(join(top, 'elsewhere'));
  await cp(fixture('tensorboard/first'), join(top, 'runs/first'), { recursive: true });
  await symlink('../elsewhere', join(top, 'runs/second'));
  await cp(fixture('wandb-0.31.0'), join(top, 'wandb'), { recursive: true });
  await symlink('../elsewhere', join(top, 'wandb/run-20260102_030405-abc'));

  const read = [await readSource('tensorboard', join(top, 'runs')), await readSource('wandb', top)];

  expect(read.map(({ beside }) => beside)).toEqual([
    { 'links to files elsewhere': 1 },
    { 'links to files elsewhere': 1 },
  ]);
});

test('a summary of W&B has values that the history lacks, and a damaged value comes as its text', async () => {
  const top = await scratch();
  const row = (...items: Buffer[]) => field(2, Buffer.concat(items));
  await writeLog(
    top,
    'one',
    row(item(['_step'], '5'), item(['torn'], '{"a": ')),
    field(
      3,
      Buffer.concat([
        item(['only'], '{"_type": "histogram", "bins": [0, 1], "values": [2]}'),
        item(['nothing'], 'null'),
      ]),
    ),
    ended,
  );

  const { one } = (await readSource('wandb', top)).runs;

  expect(one?.files.get('histograms/only_step_5.json')).toBe('{"bins":[0,1],"values":[2]}');
  const lines = (one?.files.get('import/history.ndjson') ?? '')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual({ step: 5, key: 'torn', value: '{"a": ' });
  expect(lines).toContainEqual({ step: 5, key: 'nothing', value: null });
});

const run = 'a'.repeat(32);

test('a folder of MLflow says what of no run it leaves out, and which run lacks its description', async () => {
  const top = await scratch();
  const model = (source: string) => `model_id: m\nname: net\nsource_run_id: ${source}\n`;
  await write(top, {
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
  });
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

test('of tags with one name the last comes, the others are kept, and what is of no run is in the table', async () => {
  const service = await testService();
  const bridge = await mlflowBridge(service, await service.user('developer'));
  onTestFinished(() => bridge.close().then(() => undefined));
  const api = new TrackingApi(bridge.url, undefined);
  const source: RunSource = {
    async *experiments() {
      yield { id: 'e', name: 'odd', tags: [], isDeleted: false };
    },
    async *runs() {
      yield {
        ...{ id: 'r', name: 'one', status: 'FINISHED', user: '', start: 1, end: 2, isDeleted: false },
        ...{ params: [], datasets: [], artifactUri: '' },
        tags: [
          { key: 'owner', value: 'true' },
          { key: 'owner', value: 'ada' },
          { key: 'team', value: 'a' },
          { key: 'team', value: 'a' },
        ],
      };
    },
    async *points() {},
    async *files() {},
    openFile: () => Promise.reject(new Error('There is no file.')),
    async *models() {},
    omittedBeside: () => new Map([['traces', 3]]),
  };

  const { omitted } = await importRuns({ source, api, rename: (name) => name }, () => undefined);

  expect(omitted).toEqual({
    'tags of one name: the last one here, the others in import/values.json': 1,
    traces: 3,
  });
  const [here] = (await readAll(mlflowServer(api))).values();
  expect(here?.tags).toMatchObject({ owner: 'ada', team: 'a' });
  expect(JSON.parse(here?.files.get('import/values.json') ?? '').tags).toEqual([
    { key: 'owner', value: 'true' },
  ]);
});
