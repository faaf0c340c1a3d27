import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSource } from '../../../cli/import/open-source.ts';
import { PythonReader } from '../../../cli/import/sources/python-reader.ts';
import { readSource, valuesOf } from './read-whole.ts';
import { writeZips } from './zips.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-records-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('a database of Trackio overwrites no file of this disk, and brings none but its media', async () => {
  const top = join(folder, 'trackio');
  await mkdir(join(top, 'media/digits'), { recursive: true });
  await writeFile(join(folder, '.profile'), 'mine');
  await writeFile(join(top, 'thesis.txt'), 'private');
  await writeFile(join(top, 'media/digits/a.png'), 'a picture');
  const database = new DatabaseSync(join(top, 'digits.db'));
  database.exec(
    'CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name TEXT, timestamp TEXT, step INTEGER, metrics TEXT)',
  );
  const add = database.prepare("INSERT INTO metrics VALUES (NULL, 'r', '2026-01-02T03:04:05Z', ?, ?)");
  // The name of the linked file is that of a table of another step.
  add.run('1.table.json', JSON.stringify({ k: { _type: 'x.table', file_path: '../../.profile' } }));
  add.run(1, JSON.stringify({ k: { _type: 'trackio.table', _value: [{ '$(id)': 1 }] } }));
  add.run(2, JSON.stringify({ p: { _type: 'trackio.image', file_path: '../thesis.txt' } }));
  add.run(3, JSON.stringify({ p: { _type: 'trackio.image', file_path: 'digits/a.png' } }));
  database.close();
  const { runs } = await readSource('trackio', top);
  expect(await readFile(join(folder, '.profile'), 'utf8')).toBe('mine');
  const files = runs['r']?.files;
  expect(files?.get('media/table/k_step_1.table.json')).toContain('$(id)');
  expect(files?.get('media/image/p_step_3.png')).toBe('a picture');
  expect([...(files?.values() ?? [])]).not.toContain('private');
  expect(runs['r']?.omitted).toEqual({ 'links to files elsewhere': 2 });
});

test('pictures, tables and histograms of one name and step, as those of a resumed run, stay apart', async () => {
  const top = join(folder, 'resumed');
  await mkdir(join(top, 'media/digits'), { recursive: true });
  for (const name of ['a', 'b']) await writeFile(join(top, `media/digits/${name}.png`), name);
  const database = new DatabaseSync(join(top, 'digits.db'));
  database.exec(
    'CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name TEXT, timestamp TEXT, step INTEGER, metrics TEXT)',
  );
  const add = database.prepare("INSERT INTO metrics VALUES (NULL, 'r', '2026-01-02T03:04:05Z', 1, ?)");
  for (const name of ['a', 'b'])
    add.run(
      JSON.stringify({
        p: { _type: 'trackio.image', file_path: `digits/${name}.png` },
        t: { _type: 'trackio.table', _value: [{ x: name }] },
        h: { _type: 'trackio.histogram', bins: [0, 1], values: [name] },
      }),
    );
  database.close();

  const { runs } = await readSource('trackio', top);

  const files = runs['r']?.files ?? new Map<string, string>();
  files.delete('import/history.ndjson');
  expect([...files.keys()].toSorted()).toEqual([
    'histograms/h.1_step_1.json',
    'histograms/h_step_1.json',
    'media/image/p.1_step_1.png',
    'media/image/p_step_1.png',
    'media/table/t.1_step_1.table.json',
    'media/table/t_step_1.table.json',
  ]);
  expect(files.get('media/image/p.1_step_1.png')).toBe('b');
  expect(files.get('media/table/t.1_step_1.table.json')).toContain('"b"');
});

test('one record that is no record does not keep the others back', async () => {
  const clearml = join(folder, 'clearml');
  const comet = join(folder, 'comet');
  await Promise.all([clearml, comet].map((one) => mkdir(one)));
  const task = (id: unknown, more: object = {}) => ({ 'task.json': { id, name: String(id), ...more } });
  const experiment = (facts: unknown, ...messages: unknown[]) => ({
    'experiment.json': facts,
    'messages.json': messages.map((one) => JSON.stringify(one)).join('\n'),
  });
  await writeZips({
    [join(clearml, 'a.zip')]: task('good'),
    [join(clearml, 'b.zip')]: { 'task.json': ['no', 'object'] },
    [join(clearml, 'c.zip')]: task(['no', 'text']),
    [join(clearml, 'd.zip')]: task('odd', { started: 'never' }),
    [join(clearml, 'e.zip')]: task('number', { name: 5 }),
    [join(clearml, 'f.zip')]: task('deep', { hyperparams: 'none' }),
    [join(clearml, 'h.zip')]: task('project', { project_name: { a: 1 } }),
    [join(comet, 'a.zip')]: experiment({ offline_id: 'good' }),
    [join(comet, 'b.zip')]: experiment([]),
    [join(comet, 'c.zip')]: experiment({ offline_id: 'odd' }, { type: 'parameter_msg', payload: [] }),
    [join(comet, 'd.zip')]: experiment({ offline_id: 'time', start_time: 'noon' }),
    [join(comet, 'e.zip')]: experiment({ offline_id: 'project', project_name: 7 }),
  });
  // Its end says that it is a zip.
  const whole = await readFile(join(clearml, 'a.zip'));
  const central = whole.indexOf('PK\u0001\u0002');
  await writeFile(join(clearml, 'g.zip'), whole.fill(0, central, central + 4));
  const sessions = await readSource('clearml', clearml);
  expect(Object.keys(sessions.runs)).toContain('good');
  expect(Object.keys(sessions.runs)).toContain('odd');
  for (const name of ['b.zip', 'c.zip', 'f.zip', 'g.zip', 'h.zip'])
    expect(sessions.unread).toContainEqual(expect.stringContaining(name));
  const archives = await readSource('comet', comet);
  expect(Object.keys(archives.runs)).toContain('good');
  expect(archives.runs['odd']?.omitted).toEqual({ 'records that are damaged': 1 });
  for (const name of ['b.zip', 'e.zip'])
    expect(archives.unread).toContainEqual(expect.stringContaining(name));
  expect(archives.unread).toContainEqual(expect.stringContaining('time'));
});

test('of two records with one id the first comes, and the other is named with the reason', async () => {
  const [clearml, comet] = ['same-clearml', 'same-comet'].map((name) => join(folder, name)) as [
    string,
    string,
  ];
  await Promise.all([clearml, comet].map((one) => mkdir(one)));
  const task = (name: string) => ({ 'task.json': { id: 'a', name, project_name: name } });
  const experiment = (project_name: string) => ({
    'experiment.json': { offline_id: 'a', project_name },
    'messages.json': '',
  });
  await writeZips({
    [join(clearml, '1.zip')]: task('one'),
    [join(clearml, '2.zip')]: task('two'),
    [join(comet, '1.zip')]: experiment('one'),
    [join(comet, '2.zip')]: experiment('two'),
  });

  const read = [await readSource('clearml', clearml), await readSource('comet', comet)];

  expect(read.map(({ runs }) => Object.keys(runs))).toEqual([['one'], ['a']]);
  expect(read.map(({ unread }) => unread)).toEqual(
    [clearml, comet].map((one) => [
      `${join(one, '2.zip')}: has the id a of ${join(one, '1.zip')}, which is brought`,
    ]),
  );
});

test('one record of a run that is damaged does not keep its others back', async () => {
  const [session, archive, top] = ['damaged-session', 'damaged-archive', 'damaged'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const deep = '['.repeat(20_000);
  const scalar = (more: object) => ({
    ...{ type: 'training_stats_scalar', metric: 'loss', variant: 'a/b', value: 1, timestamp: 5, iter: 1 },
    ...more,
  });
  const lines = (...rows: unknown[]) =>
    rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
  const point = (metricName: string) => ({
    type: 'metric_msg',
    payload: { metric: { metricName, metricValue: 1, step: 1 }, local_timestamp: 5 },
  });
  await writeZips({
    [`${session}.zip`]: {
      'task.json': {
        ...{ id: 'a', name: 'a', execution: { artifacts: [{}, 'none', { key: 'whole' }] } },
        configuration: { bad: 1, good: { value: 'x' } },
      },
      'metrics.jsonl': lines(
        [scalar({ value: undefined }), scalar({ timestamp: undefined }), scalar({ metric: 'other' })],
        deep,
        [scalar({})],
      ),
      'log.jsonl': lines([{ msg: 1 }, { msg: 'a line' }]),
    },
    [`${archive}.zip`]: {
      'experiment.json': { offline_id: 'a' },
      'messages.json': lines(
        { type: 'parameter_msg', payload: {} },
        { type: 'metric_msg', payload: { metric: 'none' } },
        deep,
        { type: 'other', payload: [] },
        point('loss'),
      ),
    },
  });
  await mkdir(top);
  const database = new DatabaseSync(join(top, 'digits.db'));
  database.exec(`
    CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name TEXT, timestamp TEXT, step INTEGER, metrics TEXT);
    CREATE TABLE configs (run_name TEXT, config TEXT);
    INSERT INTO configs VALUES ('a', '{"lr": 0.');
    INSERT INTO metrics VALUES (NULL, 'a', '2026-01-02T03:04:05Z', 1, '{"loss": 0.'),
      (NULL, 'a', 'noon', 2, '{"loss": 2}'), (NULL, 'a', '2026-01-02T03:04:05Z', 3, x'ff00'),
      (NULL, 'a', '2026-01-02T03:04:05Z', 4, '{"loss": 4, "h": {"_type": "trackio.histogram"}, "acc": 1}'),
      (NULL, 'a', '2026-01-02T03:04:05Z', 5, '{"loss": 5}');
  `);
  database.close();

  const { a: ofClearml } = (await readSource('clearml', `${session}.zip`)).runs;
  const { a: ofComet } = (await readSource('comet', `${archive}.zip`)).runs;
  const { a: ofTrackio } = (await readSource('trackio', top)).runs;

  expect(ofClearml?.points.map(({ key }) => key)).toEqual(['other/a/b', 'loss/a/b']);
  expect([...(ofClearml?.files.keys() ?? [])]).toEqual([
    'output.log',
    'clearml/task.json',
    'clearml/configuration/good',
  ]);
  expect(ofComet?.points.map(({ key }) => key)).toEqual(['loss']);
  expect(valuesOf(ofTrackio?.points ?? [], 'loss')).toEqual([
    [2, 2],
    [4, 4],
    [5, 5],
  ]);
  const damaged = [ofClearml, ofComet, ofTrackio].map((run) => run?.omitted['records that are damaged']);
  expect(damaged).toEqual([6, 3, 3]);
  expect(ofTrackio?.omitted['configurations that are damaged']).toBe(1);
});

test('torn lines, descriptions that are none and addresses elsewhere of a folder of MLflow are left out', async () => {
  const top = join(folder, 'torn', 'mlruns');
  const run = (id: string) => join(top, '1', id);
  for (const id of ['whole', 'empty', 'bad']) await mkdir(join(run(id), 'metrics'), { recursive: true });
  await mkdir(join(top, '2'));
  await mkdir(join(top, 'models/m'), { recursive: true });
  await writeFile(join(top, '1/meta.yaml'), "experiment_id: '1'\nname: e\nlifecycle_stage: active\n");
  await writeFile(join(top, '2/meta.yaml'), 'experiment_id: [');
  await writeFile(join(top, 'models/m/meta.yaml'), '');
  await writeFile(
    join(run('whole'), 'meta.yaml'),
    'run_id: whole\nrun_name: whole\nstatus: 3\nlifecycle_stage: active\nartifact_uri: file://elsewhere/x\n',
  );
  await writeFile(join(run('empty'), 'meta.yaml'), '');
  await writeFile(join(run('bad'), 'meta.yaml'), 'run_id: "');
  await writeFile(join(run('whole'), 'metrics/a'), '1 0.5 0\nno point here\n2\n2 0.25 1\n3 0.125 12');
  await writeFile(join(run('whole'), 'metrics/b'), '1 nan 0\n');
  await writeFile(join(run('whole'), 'metrics/c'), '1 0.');

  const { runs, unread } = await readSource('mlflow', top);

  expect(Object.keys(runs)).toEqual(['whole']);
  expect(runs['whole']?.points.map(({ key, value, step }) => [key, value, step])).toEqual([
    ['a', 0.5, 0],
    ['a', 0.25, 1],
    ['b', 'NaN', 0],
  ]);
  expect(runs['whole']?.omitted).toEqual({ 'lines that are no points': 4 });
  for (const one of ['2/meta.yaml', 'empty/meta.yaml', 'bad/meta.yaml', 'm/meta.yaml'])
    expect(unread).toContainEqual(expect.stringContaining(one));
});

test('logged models of a folder of MLflow come with their run, and traces and files elsewhere are counted', async () => {
  const top = join(folder, 'counted', 'mlruns');
  const files = {
    'meta.yaml': "experiment_id: '1'\nname: e\nlifecycle_stage: active\n",
    'r/meta.yaml':
      'run_id: r\nrun_name: r\nstatus: 3\nlifecycle_stage: active\nartifact_uri: s3://b/r/artifacts\n',
    'models/m-1/meta.yaml': 'model_id: m-1\nname: net\nsource_run_id: r\n',
    'models/m-1/artifacts/data/weights': 'one',
    'models/m-2/meta.yaml': 'model_id: m-2\nname: net\nsource_run_id: null\n',
    'models/m-2/artifacts/weights': 'of no run',
    'models/m-3/meta.yaml': 'model_id: m-3\nname: net\nsource_run_id: r\n',
    'models/m-3/artifacts/weights': 'three',
    'models/m-4/meta.yaml':
      'model_id: m-4\nname: far\nsource_run_id: r\nartifact_location: s3://b/models/m-4/artifacts\n',
    'models/m-5/meta.yaml': 'model_id: m-5\nname: own\nsource_run_id: r\n',
    'models/m-5/artifacts/weights': 'five',
    'r/artifacts/own/note': 'of the run',
    'traces/tr-1/request_metadata/mlflow.sourceRun': 'r',
    'traces/tr-2/trace_info.yaml': '',
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(top, '1', dirname(path)), { recursive: true });
    await writeFile(join(top, '1', path), content);
  }

  const { runs, unread } = await readSource('mlflow', top);

  expect(runs['r']?.omitted).toEqual({
    'logged models whose files are at s3:': 1,
    'traces of MLflow': 1,
    'runs whose artifacts are at s3:': 1,
  });
  expect(Object.fromEntries(runs['r']?.files ?? [])).toEqual({
    'own/note': 'of the run',
    'net-m-1/data/weights': 'one',
    'net-m-3/weights': 'three',
    'own-m-5/weights': 'five',
  });
  expect(unread).toEqual([]);
});

test('times and steps that JSON has no number for do not end the reader', async () => {
  const path = join(folder, 'nan.zip');
  const metric = (metricName: string, step: string, time: string) =>
    `{"type": "metric_msg", "payload": {"metric": {"metricName": "${metricName}", "metricValue": 1, "step": ${step}, "epoch": NaN}, "local_timestamp": ${time}}}`;
  await writeZips({
    [path]: {
      'experiment.json': '{"offline_id": "nan", "start_time": NaN, "stop_time": 1e400}',
      'messages.json': [metric('a', 'NaN', '1'), metric('b', '1', 'Infinity'), metric('c', '2', '3')].join(
        '\n',
      ),
    },
  });
  const { runs } = await readSource('comet', path);
  const points = runs['nan']?.points ?? [];
  expect(points.find(({ key }) => key === 'c')).toEqual({ key: 'c', value: 1, timestamp: 3, step: 2 });
  expect(points.find(({ key }) => key === 'a')?.step).toBeNaN();
});

test('a record that is small on disk and huge in memory is refused', async () => {
  const bombs = join(folder, 'bombs');
  await mkdir(bombs);
  const bytes = 80 << 20;
  await writeZips({
    [join(bombs, 'a.zip')]: { 'task.json': bytes },
    [join(bombs, 'b.zip')]: { 'task.json': { id: 'lines', name: 'lines' }, 'log.jsonl': bytes },
  });
  const source = await openSource('clearml', bombs, bombs, process.env);
  const names: string[] = [];
  for await (const experiment of source.experiments())
    for await (const run of source.runs(experiment)) names.push(run.name);
  await source.close?.();
  expect(names).toEqual([]);
  expect(source.unread?.()).toEqual([
    expect.stringMatching(/a\.zip.*more than/),
    expect.stringMatching(/b\.zip.*more than/),
  ]);
});

test('a program of Python is started in no folder of the user or of the source', async () => {
  const programs = join(folder, 'bin');
  await mkdir(programs);
  // It stands for uv, which reads settings, and starts a Python, of the folder that it is started in.
  await writeFile(join(programs, 'python3'), '#!/bin/sh\npwd >&2\nexit 1\n');
  await chmod(join(programs, 'python3'), 0o700);
  const started = PythonReader.start('mlflow_database', join(folder, 'mlflow.db'), {
    PATH: [programs, '/nowhere'].join(delimiter),
  });
  await expect(started).rejects.toThrow(/python3: \S*mps-import-/);
});

test('links among the folders of MLflow, and ids that are paths, bring nothing of this disk', async () => {
  const top = join(folder, 'mlflow');
  const run = join(top, 'mlruns/1/abc');
  const secrets = join(folder, 'secrets');
  for (const one of [run, join(secrets, 'artifacts'), join(top, 'mlruns/1/linked')])
    await mkdir(one, { recursive: true });
  await writeFile(join(secrets, 'credentials'), '1 2 3');
  await writeFile(join(secrets, 'artifacts/credentials'), 'a key');
  const experiment = "experiment_id: '1'\nname: e\nlifecycle_stage: active\n";
  await writeFile(join(top, 'mlruns/1/meta.yaml'), experiment);
  await writeFile(join(run, 'meta.yaml'), 'run_id: abc\nrun_name: r\nstatus: 3\nlifecycle_stage: active\n');
  for (const name of ['artifacts', 'params', 'tags', 'metrics']) await symlink(secrets, join(run, name));
  const { r } = (await readSource('mlflow', join(top, 'mlruns'))).runs;
  expect([r?.files.size, r?.params, r?.tags, r?.points]).toEqual([0, {}, {}, []]);

  await symlink(secrets, join(top, 'mlruns/2'));
  const database = new DatabaseSync(join(top, 'mlflow.db'));
  database.exec(`
    CREATE TABLE experiments (experiment_id, name, lifecycle_stage);
    CREATE TABLE runs (run_uuid, name, status, user_id, start_time, end_time, lifecycle_stage, artifact_uri, experiment_id);
    CREATE TABLE metrics (key, value, is_nan, timestamp, step, run_uuid);
    CREATE TABLE params (key, value, run_uuid);
    CREATE TABLE tags (key, value, run_uuid);
    INSERT INTO experiments VALUES ('1', 'e', 'active'), ('2', 'f', 'active');
    INSERT INTO runs (run_uuid, name, status, experiment_id) VALUES
      ('../../../secrets', 'path', 'FINISHED', '1'), ('.', 'linked', 'FINISHED', '2');
    INSERT INTO metrics VALUES ('text', 'no number', 0, 1, 1, '.'), ('loss', 0.5, 0, 1, 1, '.'), (NULL, 1, 0, 1, 1, '.');
  `);
  database.close();
  const { path, linked } = (await readSource('mlflow', join(top, 'mlflow.db'))).runs;
  expect([path?.files.size, linked?.files.size]).toEqual([0, 0]);
  expect(linked?.points).toEqual([{ key: 'loss', value: 0.5, timestamp: 1, step: 1 }]);
});
