import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSource } from '../../../cli/import/open-source.ts';
import { readSource, valuesOf } from './read-whole.ts';

const fixtures = join(import.meta.dirname, '../../fixtures/import');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offline-'));
});
afterAll(() => rm(folder, { recursive: true }));

const fifths = [
  [0, 1],
  [1, 1 / 2],
  [2, 1 / 3],
  [3, 1 / 4],
  [4, 1 / 5],
];

test('the databases of Trackio come with media, tables, histograms and alerts', async () => {
  const top = join(folder, 'trackio');
  await mkdir(top);
  await cp(join(fixtures, 'trackio-media'), join(top, 'media'), { recursive: true });
  const database = new DatabaseSync(join(top, 'digits.db'), { enableForeignKeyConstraints: false });
  database.exec(await readFile(join(fixtures, 'trackio.sql'), 'utf8'));
  await writeFile(join(folder, 'secret.png'), 'key');
  const [made] = database.prepare("SELECT run_id FROM configs WHERE run_name = 'second'").all();
  database
    .prepare("INSERT INTO metrics VALUES (NULL, ?, '2026-01-02T03:04:05Z', 'second', 1, ?, NULL, NULL)")
    .run(
      String(made?.['run_id']),
      JSON.stringify({ img: { _type: 'trackio.image', file_path: '../../secret.png' } }),
    );
  database.close();
  await writeFile(join(top, 'torn.db'), 'SQLite format 3\0 and no more');
  const { runs, unread } = await readSource('trackio', top);
  const { first, second } = runs;
  expect(first?.experiment.name).toBe('digits');
  expect(first?.params).toEqual({ lr: '0.1', 'model.depth': '3', flag: 'True', none: 'None' });
  expect(first?.tags).toEqual({ 'trackio.group': 'sweep' });
  expect(valuesOf(first?.points ?? [], 'loss')).toEqual([...fifths, [40, 0.125]]);
  expect(valuesOf(first?.points ?? [], 'odd').map(([, value]) => value)).toEqual([1, 1, 'NaN', 1, 1]);
  expect(valuesOf(first?.points ?? [], 'nested.a')).toHaveLength(5);
  expect(valuesOf(first?.points ?? [], 'system/gpu_0_utilization')).toEqual([[0, 50]]);
  expect(valuesOf(second?.points ?? [], 'loss')).toEqual([[0, 'Infinity']]);
  const files = first?.files;
  expect(files?.get('media/image/img_step_41.png')).toContain('PNG');
  expect(files?.get('media/table/tbl_step_42.table.json')).toBe('{"columns": ["a"], "data": [[1], [2]]}');
  expect(JSON.parse(files?.get('histograms/hist_step_43.json') ?? '').values).toContain(2);
  expect(files?.get('import/alerts.ndjson')).toContain('too high');
  expect(files?.get('import/history.ndjson')).toContain('{"step": 0, "key": "text", "value": "x"}');
  // A database of somebody else must not bring what is not below its folder.
  expect(second?.omitted).toEqual({ 'links to files elsewhere': 1 });
  expect(unread).toEqual([expect.stringContaining('torn.db')]);
});

test('a session of ClearML comes from its zip and from its folder, without what is torn', async () => {
  const path = join(fixtures, 'clearml.zip');
  const session = join(folder, 'clearml/offline-1');
  await promisify(execFile)('python3', ['-m', 'zipfile', '-e', path, session]);
  await writeFile(join(folder, 'clearml/broken.zip'), 'PK');
  await writeFile(join(session, 'metrics.jsonl'), '[{"type": "train', { flag: 'a' });
  for (const one of [path, join(folder, 'clearml')]) {
    const { first } = (await readSource('clearml', one)).runs;
    expect(first?.experiment.name).toBe('team/digits');
    expect(first?.params).toEqual({ 'General/lr': '0.1', 'General/model/depth': '3' });
    expect(first?.tags).toMatchObject({ base: 'true', owner: 'ada', 'mlflow.note.content': 'a note' });
    expect(valuesOf(first?.points ?? [], 'loss/train')).toEqual(fifths);
    expect(valuesOf(first?.points ?? [], 'accuracy')).toHaveLength(5);
    expect([...(first?.files.keys() ?? [])].toSorted()).toEqual([
      'artifacts/table.json',
      'clearml/configuration/net',
      'clearml/make_clearml.py',
      'clearml/requirements.pip.txt',
      'clearml/task.json',
      'media/images/samples/grey_step_2.jpeg',
      'media/plotly/weights/layer_step_3.plotly.json',
      'output.log',
    ]);
    expect(first?.files.get('output.log')).toContain('a line\n');
    expect(first?.omitted).toEqual(one === path ? {} : { 'lines of metrics.jsonl that are torn': 1 });
  }
});

test('an offline experiment of Comet comes with its files by their names', async () => {
  const top = join(folder, 'comet');
  await mkdir(top);
  await cp(join(fixtures, 'comet.zip'), join(top, 'a.zip'));
  await writeFile(join(top, 'b.zip'), 'PK');
  const { runs, unread } = await readSource('comet', top);
  const { first } = runs;
  expect(first?.experiment.name).toBe('digits');
  expect(first?.run.status).toBe('FINISHED');
  expect(first?.params).toEqual({ lr: '0.1', 'model.depth': '3' });
  expect(first?.tags).toEqual({ base: 'true', note: 'x', 'comet.workspace': 'team' });
  expect(valuesOf(first?.points ?? [], 'loss')).toEqual(fifths);
  expect(valuesOf(first?.points ?? [], 'odd')).toEqual([[4, 'NaN']]);
  expect(valuesOf(first?.points ?? [], 'epoch')).toEqual([
    [0, 0],
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 2],
  ]);
  expect([...(first?.files.keys() ?? [])].toSorted()).toEqual([
    'assets/notes.txt',
    'assets/tbl.csv',
    'import/comet.ndjson',
    'media/histogram3d/weights_step_3.json',
    'media/images/grey_step_2.png',
    'media/text/text-sample_step_1.txt',
    'output.log',
  ]);
  expect(unread).toEqual([expect.stringContaining('b.zip')]);
});

test('a repository of Aim is read by Aim, and a Python without it says what to do', async () => {
  const top = join(folder, 'aim');
  await mkdir(join(top, '.aim/meta/chunks/1d18'), { recursive: true });
  const PATH = process.env['PATH'] ?? '';
  const env = { PATH, PYTHONPATH: join(fixtures, 'aim-stand-in') };
  const { first } = (await readSource('aim', join(top, '.aim'), env)).runs;
  expect(first?.params).toEqual({
    'hparams.lr': '0.1',
    'hparams.model.depth': '3',
    'hparams.list': '[1, 2]',
  });
  expect(first?.tags).toMatchObject({ base: 'true', 'aim.arguments': '--lr 0.1' });
  expect(JSON.parse(first?.tags['aim.contexts'] ?? '')['val/loss']).toEqual({ subset: 'val' });
  expect(valuesOf(first?.points ?? [], 'val/loss')).toEqual([
    [0, 2],
    [1, 1],
    [2, 2 / 3],
  ]);
  expect(valuesOf(first?.points ?? [], 'epoch').map(([, value]) => value)).toEqual([0, 0, 1]);
  expect(valuesOf(first?.points ?? [], 'system/gpu_0_gpu')).toHaveLength(3);
  // Environment variables may hold keys.
  expect(JSON.stringify([first?.params, first?.tags])).not.toContain('secret');
  expect(first?.omitted).toEqual({ 'environment variables and packages that Aim recorded': 1 });
  await expect(openSource('aim', top, top, { PATH: folder })).rejects.toThrow(
    /aim itself reads these records\. Activate the environment that has it, or install uv/,
  );
});

test('a folder of another tracker is named by the error', async () => {
  await expect(openSource('comet', fixtures, join(fixtures, 'trackio-media'), process.env)).rejects.toThrow(
    /has no runs of Comet/,
  );
  const mlflow = join(folder, 'mlflow');
  await mkdir(mlflow);
  await writeFile(join(mlflow, 'mlflow.db'), '');
  await expect(openSource('clearml', mlflow, mlflow, process.env)).rejects.toThrow(/--from mlflow/);
});
