import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parquetMetadata } from 'hyparquet';
import { expect, onTestFinished, test } from 'vitest';
import { importRuns } from '../../../cli/import/import-runs.ts';
import { intoProject } from '../../../cli/import/import-tracker.ts';
import { pointBatches } from '../../../cli/import/point-batches.ts';
import type { RunSource, SourceRun } from '../../../cli/import/source.ts';
import { mlflowFolder } from '../../../cli/import/sources/mlflow-folder.ts';
import { mlflowServer } from '../../../cli/import/sources/mlflow-server.ts';
import { neptuneExport } from '../../../cli/import/sources/neptune-export.ts';
import { Omissions } from '../../../cli/import/sources/omissions.ts';
import { ScratchFiles } from '../../../cli/import/sources/scratch-files.ts';
import { tensorboardFolder } from '../../../cli/import/sources/tensorboard-folder.ts';
import { wandbFolder } from '../../../cli/import/sources/wandb-folder.ts';
import { TrackingApi } from '../../../cli/import/tracking-api.ts';
import { testService } from '../../support/service.ts';
import { mlflowBridge } from './mlflow-bridge.ts';
import { readAll, readWhole, valuesOf } from './read-whole.ts';
import { config, ended, field, item, writeLog } from './wandb-log-file.ts';

const fixture = (name: string) => join(import.meta.dirname, '../../fixtures/import', name);

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function serviceApi() {
  const service = await testService();
  const bridge = await mlflowBridge(service, await service.user('developer'));
  onTestFinished(() => bridge.close().then(() => undefined));
  return new TrackingApi(bridge.url, undefined);
}

const bring = (source: RunSource, api: TrackingApi, map: Readonly<Record<string, string>> = {}) =>
  importRuns({ source, api, rename: (name) => map[name] ?? name }, () => undefined);

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A source of one project with these runs. */
const sourceOf = (runs: readonly Partial<SourceRun>[], others: Partial<RunSource> = {}): RunSource => ({
  async *experiments() {
    yield { id: 'e', name: 'project', tags: [], isDeleted: false };
  },
  async *runs() {
    for (const [index, run] of runs.entries())
      yield {
        ...{ id: `r${index}`, name: `run ${index}`, status: 'FINISHED', user: '', start: 1000, end: 2000 },
        ...{ isDeleted: false, params: [], tags: [], datasets: [], artifactUri: '', ...run },
      };
  },
  async *points() {},
  async *files() {},
  openFile: async () => Readable.from([Buffer.from('content')]),
  async *models() {},
  ...others,
});

test('names of a config that mean a prototype are only names', async () => {
  const folder = await scratch();
  await writeLog(
    join(folder, 'run-a'),
    'a',
    config(item(['a'], '{}'), item(['a', '__proto__', 'polluted'], '1')),
    ended,
  );

  const { params } = await readWhole(wandbFolder(folder));

  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  expect(params).toEqual({ 'a.__proto__.polluted': '1' });
});

test('a run that cannot be read is named, and the others come', async () => {
  const folder = await scratch();
  await writeLog(join(folder, 'run-a'), 'good', ended);
  await writeLog(
    join(folder, 'run-b'),
    'deep',
    config(item(['a'], `${'['.repeat(15_000)}${']'.repeat(15_000)}`)),
    ended,
  );
  await writeFile(join(folder, 'run-b', 'empty.wandb'), '');
  const source = wandbFolder(folder);

  const brought = await bring(source, await serviceApi());

  expect(brought).toMatchObject({ runs: 1 });
  expect(brought.failures).toEqual([
    expect.stringContaining('empty.wandb: its records name no run'),
    expect.stringContaining('run deep: Maximum call stack'),
  ]);
});

test('an artifact of W&B brings no file of the home and no hidden one', async () => {
  const home = await scratch();
  const kept = process.env['HOME'];
  process.env['HOME'] = home;
  onTestFinished(() => {
    process.env['HOME'] = kept;
  });
  await mkdir(join(home, '.ssh'));
  await writeFile(join(home, '.ssh/id_rsa'), 'key');
  await writeFile(join(home, 'secret.txt'), 'secret');
  await mkdir(join(home, 'work/.aws'), { recursive: true });
  await writeFile(join(home, 'work/.aws/credentials'), 'key');
  await writeFile(join(home, 'work/model.pt'), 'model');
  const paths = ['.ssh/id_rsa', 'secret.txt', 'work/.aws/credentials', 'work/model.pt'];
  const artifact = field(
    8,
    Buffer.concat([
      field(4, 'model'),
      field(5, 'net'),
      field(
        12,
        Buffer.concat(
          paths.map((path) => field(4, Buffer.concat([field(1, path), field(6, join(home, path))]))),
        ),
      ),
    ]),
  );
  await writeLog(join(home, 'stranger'), 'a', artifact, ended);
  await writeLog(join(home, 'wandb/run-b'), 'b', artifact, ended);
  await writeLog(join(home, 'work/wandb/run-c'), 'c', artifact, ended);

  const of = async (folder: string) => [...(await readWhole(wandbFolder(join(home, folder)))).files.keys()];

  const description = 'import/artifacts.json';
  expect(await of('stranger')).toEqual([description]);
  expect(await of('wandb')).toEqual([description]);
  expect(await of('work/wandb')).toEqual([description, 'artifacts/net/work/model.pt']);
});

test("an artifact address of MLflow that is not the run's own brings no files", async () => {
  const folder = await scratch();
  const secret = join(folder, 'secret');
  await mkdir(secret);
  await writeFile(join(secret, 'key'), 'key');
  const run = join(folder, 'mlruns/1/abc');
  await mkdir(run, { recursive: true });
  await writeFile(
    join(folder, 'mlruns/1/meta.yaml'),
    "experiment_id: '1'\nname: e\nlifecycle_stage: active\n",
  );
  await writeFile(
    join(run, 'meta.yaml'),
    `run_id: abc\nrun_name: r\nstatus: 3\nlifecycle_stage: active\nartifact_uri: ${secret}\n`,
  );

  expect((await readWhole(mlflowFolder(join(folder, 'mlruns')))).files.size).toBe(0);
});

test('a path of a file leads to no other address of the service', async () => {
  const api = await serviceApi();
  const sent: string[] = [];
  const send = api.send.bind(api);
  api.send = (call, given) => {
    if (call.startsWith('PUT ')) sent.push(call);
    return send(call, given);
  };
  const paths = ['images/../../../../x_step_1.png', 'a\\b', 'a//b', './c', 'd'.repeat(2000)];
  const source = sourceOf([{}], {
    async *files() {
      for (const path of paths) yield { path, size: 7 };
    },
  });

  const brought = await bring(source, api);

  expect(brought.failures).toEqual([]);
  expect(Object.keys(brought.omitted)).toHaveLength(5);
  expect(sent.every((call) => !/\/\.{1,2}(\/|$)/.test(call))).toBe(true);
  expect([...(await readWhole(mlflowServer(api))).files.keys()]).toEqual(
    expect.arrayContaining(['images/__/__/__/__/x_step_1.png', 'a_b', 'a/b', '_/c']),
  );
});

test('times before 1970, steps that are none and two names for one metric do not fail a run', async () => {
  const api = await serviceApi();
  const source = sourceOf([{ start: -5, end: -1 }], {
    async *points() {
      yield [
        { key: 'loss', value: 1, step: -3, timestamp: -86_400_000 },
        { key: 'train/loss', value: 2, step: 1, timestamp: Number.NaN },
        { key: 'loss', value: 3, step: 1.5, timestamp: 5 },
        { key: 'loss', value: 4, step: 1e300, timestamp: 1e30 },
      ];
    },
  });

  const brought = await bring(source, api, { 'train/loss': 'loss' });

  expect(brought).toMatchObject({ runs: 1, points: 2, failures: [] });
  expect(brought.omitted).toEqual({
    'points whose step is no whole number below 2^53: left out': 2,
    'times before 1970 or after 9999: left out': 1,
    'times before 1970 or after 9999: the nearest one here': 2,
    'metrics loss and train/loss: both are loss here': 1,
  });
  expect(valuesOf((await readWhole(mlflowServer(api))).points, 'loss').sort()).toEqual([
    [-3, 1],
    [1, 2],
  ]);
});

test('names, ids and data sets that the rules refuse are changed and listed, and come once', async () => {
  const api = await serviceApi();
  const half = '\ud800';
  const dataset = (name: string) => ({
    tags: [],
    dataset: { name, digest: 'd', source_type: 'local', source: 's' },
  });
  const run: Partial<SourceRun> = {
    ...{ id: 'i'.repeat(20_000), name: half.repeat(300), user: half },
    params: [{ key: 'p', value: half }],
    datasets: [dataset(''), dataset('whole')],
  };
  const tags = [
    { key: '../x', value: 'z'.repeat(30_000) },
    ...['b', 'c'].map((key) => ({ key, value: 'z'.repeat(20_000) })),
    { key: 'd', value: 'z'.repeat(10_000) },
  ];
  const experiments: RunSource['experiments'] = async function* () {
    for (const name of ['', 'p'.repeat(600), half]) yield { id: name, name, tags, isDeleted: false };
  };
  const source = sourceOf([run], { experiments });

  const brought = await bring(source, api);
  const again = await bring(source, api);

  expect(brought).toMatchObject({ runs: 3, failures: [] });
  expect(Object.keys(brought.omitted)).toEqual(
    expect.arrayContaining([
      'project "": it is _ here',
      'tag ../x of a project: changed',
      'tags of a project beyond 64000 bytes: left out',
      'names of runs beyond 250 characters: cut',
      'texts with halves of characters: without these here',
      'data sets that the service refuses: in import/values.json',
    ]),
  );
  expect(again).toMatchObject({ runs: 3, known: 3, failures: [] });
});

test('a file that cannot be read is named, and the other files and the end of its run come', async () => {
  const api = await serviceApi();
  const source = sourceOf([{ state: '1' }], {
    async *files() {
      for (const path of ['gone', 'short', 'whole']) yield { path, size: 7 };
    },
    async openFile(_, { path }) {
      if (path === 'gone') throw new Error('it is gone');
      return Readable.from([Buffer.from(path === 'short' ? 'con' : 'content')]);
    },
  });

  const brought = await bring(source, api);

  expect(brought).toMatchObject({
    files: 1,
    failures: ['run r0 of project: gone: it is gone; short: short has 3 bytes instead of 7'],
  });
  const here = await readWhole(mlflowServer(api));
  expect([...here.files]).toEqual([['whole', 'content']]);
  expect(here.run.status).toBe('FINISHED');
  // The next import tries again.
  expect(await bring(source, api)).toMatchObject({ known: 0 });
});

test('metrics beyond those that a run takes are counted', async () => {
  const left = new Map<string, number>();
  const points = range(3).map((step) => ({ key: `m${step % 2}`, value: 1, step, timestamp: 1 }));
  const source = async function* () {
    yield points;
  };
  const nameOf = (key: string) => (key === 'm0' ? key : undefined);

  const batches = await Array.fromAsync(
    pointBatches(source(), nameOf, (reason) => left.set(reason, (left.get(reason) ?? 0) + 1)),
  );

  expect(batches.map(({ points }) => points)).toEqual([2]);
  expect([...left.values()]).toEqual([1]);
});

test('a run that goes on after it was imported comes again, and one that a user deleted does not', async () => {
  const api = await serviceApi();
  const first = await bring(sourceOf([{ state: '1' }, { state: '1' }]), api);
  const [, second] = await Array.fromAsync(
    mlflowServer(api).runs({ id: await projectId(api), name: '', tags: [], isDeleted: false }),
  );
  await api.run('POST mlflow/runs/delete', { body: { run_id: second?.id } });
  const points: RunSource['points'] = async function* () {
    yield [{ key: 'loss', value: 1, step: 1, timestamp: 1 }];
  };
  const source = sourceOf([{ state: '2' }, { state: '2' }], { points });

  const more = await bring(source, api);
  const again = await bring(source, api);

  expect(first).toMatchObject({ runs: 2, known: 0 });
  expect(more).toMatchObject({ runs: 2, known: 1, points: 1, failures: [] });
  expect(again).toMatchObject({ runs: 2, known: 2, points: 0, failures: [] });
});

async function projectId(api: TrackingApi): Promise<string> {
  for await (const { id, name } of mlflowServer(api).experiments()) if (name === 'project') return id;
  return '';
}

test('tags of an earlier import at the source do not hide the run', async () => {
  const api = await serviceApi();
  const source = sourceOf([
    {
      tags: [
        { key: 'import.run_id', value: 'older' },
        { key: 'import.complete', value: 'true' },
      ],
    },
  ]);

  expect(await bring(source, api)).toMatchObject({ runs: 1, known: 0, failures: [] });
  expect(await bring(source, api)).toMatchObject({ runs: 1, known: 1, failures: [] });
});

test('an experiment that was deleted at its source does not delete the project that is chosen for its runs', async () => {
  const api = await serviceApi();
  await bring(sourceOf([{ id: 'before', name: 'before' }]), api);
  const [present] = await Array.fromAsync(mlflowServer(api).experiments());
  const gone = sourceOf([{ id: 'gone', name: 'gone' }], {
    async *experiments() {
      yield { id: 'x', name: 'deleted', tags: [], isDeleted: true };
    },
  });

  const brought = await bring(intoProject(gone, 'project', { project_id: present?.id ?? '' }), api);

  const server = mlflowServer(api);
  const projects = await Array.fromAsync(server.experiments());
  const runs = present === undefined ? [] : await Array.fromAsync(server.runs(present));
  expect(brought).toMatchObject({ runs: 1, failures: [] });
  expect(projects.filter(({ id }) => id === present?.id)).toMatchObject([{ isDeleted: false }]);
  expect(runs.map(({ name, isDeleted }) => [name, isDeleted])).toEqual([
    ['before', false],
    ['gone', true],
  ]);
});

test('equal names and ids of two sources stay two runs', async () => {
  const [one, two] = [await scratch(), await scratch()];
  await cp(fixture('tensorboard'), join(one, 'runs'), { recursive: true });
  await cp(fixture('tensorboard'), join(two, 'runs'), { recursive: true });
  for (const path of await readdir(join(two, 'runs'), { recursive: true }))
    if (path.includes('tfevents')) await rename(join(two, 'runs', path), join(two, 'runs', `${path}.other`));
  const idsOf = async (source: RunSource) => [...(await readAll(source)).values()].map(({ run }) => run.id);
  const all = [
    ...(await idsOf(tensorboardFolder(join(one, 'runs')))),
    ...(await idsOf(tensorboardFolder(join(two, 'runs')))),
  ];
  expect(new Set(all).size).toBe(all.length);

  const folder = await scratch();
  const entity = (name: string) =>
    field(17, Buffer.concat([field(1, 'a'), field(2, name), field(3, 'digits')]));
  await writeLog(join(folder, 'run-1'), 'a', entity('left'), ended);
  await writeLog(join(folder, 'run-2'), 'a', entity('right'), ended);
  expect(await bring(wandbFolder(folder), await serviceApi())).toMatchObject({
    runs: 2,
    known: 0,
    failures: [],
  });
});

test('a file that grows while it is read comes as long as it was', async () => {
  const folder = await scratch();
  await writeLog(join(folder, 'run-a'), 'a', ended);
  const path = join(folder, 'run-a/files/output.log');
  await mkdir(join(path, '..'));
  await writeFile(path, 'one\n');
  const source = wandbFolder(folder);
  const files: RunSource['files'] = async function* (run) {
    for await (const file of source.files(run)) {
      await appendFile(path, 'two\n');
      yield file;
    }
  };
  const api = await serviceApi();

  const brought = await bring({ ...source, files }, api);

  expect(brought.failures).toEqual([]);
  expect((await readWhole(mlflowServer(api))).files.get('output.log')).toBe('one\n');
});

test('a part of an export of Neptune that is torn is named, and the other parts come', async () => {
  const folder = await scratch();
  await cp(fixture('neptune'), folder, { recursive: true });
  const [project = ''] = await readdir(join(folder, 'data'));
  const [part = ''] = await readdir(join(folder, 'data', project));
  await writeFile(join(folder, 'data', project, part.replace(/_part_\d+/, '_part_99')), 'PAR1 torn PAR1');
  await writeFile(join(folder, 'data', project, 'AAA_part_0.parquet'), '');
  await symlink('/etc/passwd', join(folder, 'data', project, 'BBB_part_0.parquet'));

  const source = neptuneExport(folder);
  const runs = await readAll(source);

  expect(runs.size).toBe(1);
  expect(source.unread?.()).toHaveLength(3);
});

test('a part of an export of Neptune whose times are damaged is a fault of its run, and the rest of it comes', async () => {
  const folder = await scratch();
  await cp(fixture('neptune'), folder, { recursive: true });
  const [project = ''] = await readdir(join(folder, 'data'));
  const [first = ''] = (await readdir(join(folder, 'data', project))).toSorted();
  const path = join(folder, 'data', project, first);
  const bytes = await readFile(path);
  const { row_groups } = parquetMetadata(new Uint8Array(bytes).buffer);
  const times = row_groups[0]?.columns.find((column) => column.meta_data?.path_in_schema[0] === 'timestamp');
  const from = Number(times?.meta_data?.data_page_offset);
  await writeFile(path, bytes.fill(0xff, from, from + 20));

  const api = await serviceApi();
  const brought = await bring(neptuneExport(folder), api);

  expect(brought).toMatchObject({ runs: 1, known: 0 });
  expect(brought.failures).toEqual([expect.stringContaining(`${first} cannot be read as Parquet`)]);
  const { points } = await readWhole(mlflowServer(api));
  expect(valuesOf(points, 'test/accuracy')).toEqual([[0, 0.97]]);
});

test('a small run takes two requests, and one whose points cannot be read to the end has the others', async () => {
  const api = await serviceApi();
  const sent: string[] = [];
  const send = api.send.bind(api);
  api.send = (call, given) => {
    sent.push(call);
    return send(call, given);
  };
  const point = { key: 'loss', value: 1, step: 1, timestamp: 1000 };
  const whole = {
    params: [{ key: 'lr', value: '0.1' }],
    tags: [{ key: 'a', value: 'b' }],
  };
  const points = async function* ({ id }: SourceRun) {
    yield [point];
    if (id === 'r2') throw new Error('torn');
  };

  const brought = await bring(sourceOf([whole, whole, whole], { points }), api);

  const ofRuns = sent.filter((call) => call.includes('/runs/') && !call.endsWith('/search'));
  expect(ofRuns.toSorted()).toEqual([
    ...Array(3).fill('POST mlflow/runs/create'),
    ...Array(3).fill('POST mlflow/runs/update'),
  ]);
  expect(brought).toMatchObject({ runs: 3, failures: ['run r2 of project: torn'] });
  const here = await readAll(mlflowServer(api));
  for (const { points: read, params, tags } of here.values()) {
    expect(read).toEqual([point]);
    expect([params['lr'], tags['a']]).toEqual(['0.1', 'b']);
  }
});

test('a service that is older than the command is named, and nothing is lost unseen', async () => {
  const api = await serviceApi();
  const send = api.send.bind(api);
  api.send = (call, given) => {
    const { series: _, ...body } = (given?.body ?? {}) as { series?: unknown };
    return send(call, { ...given, ...(given?.body !== undefined && { body }) });
  };
  const points: RunSource['points'] = async function* () {
    yield [{ key: 'loss', value: 1, step: 1, timestamp: 1 }];
  };

  const brought = await bring(sourceOf([{}], { points }), api);

  expect(brought.failures).toEqual([expect.stringContaining('is older than this command')]);
});

test('histograms of a long run of any tracker are files up to a number, and lines of one file from there on', async () => {
  const scratchFiles = new ScratchFiles();
  const omissions = new Omissions();
  onTestFinished(() => scratchFiles.remove());
  for (let step = 0; step < 2003; step += 1)
    await scratchFiles.addHistogram({ key: 'weights', step, bins: [0, 1], values: [step] }, omissions);

  const files = await scratchFiles.list();

  expect(files).toHaveLength(2001);
  expect(await text(scratchFiles.open('import/histograms.ndjson'))).toBe(
    [2000, 2001, 2002]
      .map((step) => `${JSON.stringify({ key: 'weights', step, bins: [0, 1], values: [step] })}\n`)
      .join(''),
  );
  expect(Object.fromEntries(omissions.counts)).toEqual({
    'histograms beyond 2000 files of a run: in import/histograms.ndjson': 3,
  });
});

test('Ctrl-C ends an import at its next request', async () => {
  const pressed = new AbortController();
  pressed.abort();
  const api = new TrackingApi('http://127.0.0.1:9', undefined, pressed.signal);
  await expect(bring(sourceOf([{}]), api)).rejects.toThrow('abort');
});
