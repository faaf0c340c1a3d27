import { cp, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { neptuneExport } from '../../../cli/import/sources/neptune-export.ts';
import { readSource, readWhole, valuesOf } from './read-whole.ts';
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
    'data/models/net.bin': 'weights',
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
  expect(first?.files.get('clearml/data/models/net.bin')).toBe('weights');
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

test('steps of Comet and Trackio that are fractions come, multiplied until they are whole', async () => {
  const top = await scratch();
  const path = join(top, 'halves.zip');
  const steps = [0, 0.5, 2.25];
  const facts = { offline_id: 'halves', start_time: 1 };
  await writeZips({
    [path]: archive(
      facts,
      steps.map((step) => metric('loss', step, step)),
    ),
  });
  const database = new DatabaseSync(join(top, 'digits.db'));
  database.exec('CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name, timestamp, step INTEGER, metrics)');
  const insert = database.prepare("INSERT INTO metrics VALUES (NULL, 'halves', '2026-01-02', ?, ?)");
  for (const step of steps) insert.run(step, JSON.stringify({ loss: step }));
  database.close();

  const read = [await readSource('comet', path), await readSource('trackio', top)];

  for (const { runs } of read) {
    expect(valuesOf(runs['halves']?.points ?? [], 'loss')).toEqual([
      [0, 0],
      [50, 0.5],
      [225, 2.25],
    ]);
  }
  expect(read.map(({ runs }) => runs['halves']?.tags)).toEqual([
    { 'comet.step_factor': '100' },
    { 'trackio.step_factor': '100' },
  ]);
});

test('captions of Trackio name their files here, and artifacts come with aliases, references and who used them', async () => {
  const top = await scratch();
  const pictures = ['b', 'a'].map((name) => `digits/${name}.png`);
  await mkdir(join(top, 'media/digits'), { recursive: true });
  for (const picture of pictures) await writeFile(join(top, 'media', picture), picture);
  const database = new DatabaseSync(join(top, 'digits.db'));
  database.exec(`
    CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name, timestamp, step INTEGER, metrics);
    CREATE TABLE artifacts (id, name, type, description);
    CREATE TABLE artifact_versions (id, artifact_id, version, manifest, metadata, producer_run_name);
    CREATE TABLE artifact_aliases (artifact_id, alias, artifact_version_id);
    CREATE TABLE run_artifact_links (id, run_name, artifact_version_id, direction);
    INSERT INTO metrics VALUES (NULL, 'maker', '2026-01-02', 1, '${JSON.stringify({
      val: pictures.map((file_path) => ({ _type: 'trackio.image', file_path, caption: 'a caption' })),
    })}');
    INSERT INTO metrics VALUES (NULL, 'user', '2026-01-02', 0, '{"loss": 1}');
    INSERT INTO artifacts VALUES (1, 'net', 'model', NULL);
    INSERT INTO artifact_versions VALUES (7, 1, 3, '[{"path": "w", "ref": "s3://b/w", "digest": "e"}]', NULL, 'maker');
    INSERT INTO artifact_aliases VALUES (1, 'latest', 7), (1, 'best', 7);
    INSERT INTO run_artifact_links VALUES (1, 'maker', 7, 'output'), (2, 'user', 7, 'input');`);
  database.close();

  const { maker, user } = (await readSource('trackio', top)).runs;

  const files = pictures.map((picture, at) => [`media/image/val${at === 0 ? '' : '.1'}_step_1.png`, picture]);
  expect([...(maker?.files ?? [])]).toEqual(expect.arrayContaining(files));
  const { value } = JSON.parse(maker?.files.get('import/history.ndjson') ?? '{}') as {
    value: { file_path: string }[];
  };
  expect(value.map(({ file_path }) => file_path)).toEqual(files.map(([path]) => path));
  expect(JSON.parse(maker?.files.get('import/artifacts.ndjson') ?? '{}')).toMatchObject({
    ...{ name: 'net', version: 3, aliases: ['best', 'latest'] },
    references: [{ path: 'w', reference: 's3://b/w' }],
  });
  expect(user?.tags).toEqual({ 'trackio.used_artifacts': 'net:v3' });
});

test('a session of ClearML that was not closed has failed, and its samples at addresses are not lost', async () => {
  const top = await scratch();
  const task = (id: string) => JSON.stringify({ id, name: id });
  const sample = {
    type: 'training_debug_image',
    metric: 'm',
    variant: 'v',
    iter: 3,
    key: '/x.mp4',
    url: 'https://host/x.mp4',
  };
  await write(top, {
    'offline-killed/task.json': task('killed'),
    'offline-killed/metrics.jsonl': JSON.stringify([sample]),
    'offline-closed/task.json': task('closed'),
    'offline-closed.zip': '',
    'offline-live/task.json': task('live'),
  });
  for (const name of ['task.json', 'metrics.jsonl'])
    await utimes(join(top, 'offline-killed', name), 1_700_000_000, 1_700_000_000);

  const { killed, closed, live } = (await readSource('clearml', top)).runs;

  expect([killed, closed, live].map((read) => read?.run.status)).toEqual(['FAILED', 'FINISHED', 'RUNNING']);
  expect(killed?.tags['import.reason']).toMatch('there is no zip of it beside its folder');
  expect(JSON.parse(killed?.files.get('import/history.ndjson') ?? '{}')).toMatchObject({
    step: 3,
    key: 'm/v',
    value: sample,
  });
});

test('a folder of Trackio that has Parquet files alone is refused with the command that makes databases of them', async () => {
  const top = await scratch();
  await write(top, { 'digits.parquet': 'PAR1' });

  await expect(readSource('trackio', top)).rejects.toThrow(
    `it has Parquet files alone. Trackio makes databases of them: TRACKIO_DIR=${top} python -c`,
  );
});
