import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSource, type Tracker } from '../../../cli/import/open-source.ts';
import { readSource, valuesOf } from './read-whole.ts';

const fixtures = join(import.meta.dirname, '../../fixtures/import');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'databases-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Make a database from the text of one that its tracker wrote. */
async function databaseOf(name: string, path: string) {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  database.exec(await readFile(join(fixtures, name), 'utf8'));
  return database;
}

const open = (tracker: Tracker, path: string, env: NodeJS.ProcessEnv = process.env) =>
  openSource(tracker, path, path, env);

test('the database of MLflow comes with runs, points, artifacts beside it and registered models', async () => {
  const place = join(folder, 'mlflow');
  await mkdir(place);
  const database = await databaseOf('mlflow.sql', join(place, 'mlflow.db'));
  const ids = new Map(
    database
      .prepare('SELECT name, run_uuid FROM runs')
      .all()
      .map(({ name, run_uuid }) => [String(name), String(run_uuid)]),
  );
  database.close();
  const artifacts = join(place, 'mlruns/1', ids.get('parent') ?? '', 'artifacts');
  await mkdir(join(artifacts, 'notes'), { recursive: true });
  await writeFile(join(artifacts, 'notes/hello.txt'), 'hello\n');
  await symlink('/etc/hostname', join(artifacts, 'link'));

  // As newer versions keep it: the folder of the program has the database.
  const { runs, models } = await readSource('mlflow', place);
  const { parent, child, broken, gone } = runs;
  expect(Object.keys(runs).toSorted()).toEqual(['broken', 'child', 'gone', 'parent']);
  expect(parent?.experiment.name).toBe('digits');
  expect(parent?.experiment.tags).toContainEqual({ key: 'team', value: 'vision' });
  expect(parent?.params).toEqual({ lr: '0.1', 'model/depth': '3' });
  expect(parent?.tags).toMatchObject({ 'mlflow.note.content': 'a note' });
  expect(valuesOf(parent?.points ?? [], 'val/loss')).toEqual([
    [0, 1],
    [1, 0.5],
    [2, 'NaN'],
    // MLflow's database has no infinity; its server shows this number, too.
    [3, Number.MAX_VALUE],
    [4, -2.5e-300],
    [1, 0.25],
  ]);
  expect(parent?.points.map(({ timestamp }) => timestamp - 1_700_000_000_000)).toEqual([0, 1, 2, 3, 4, 9]);
  expect([...(parent?.files ?? [])]).toEqual([['notes/hello.txt', 'hello\n']]);
  expect(child?.tags).toMatchObject({ fold: '1', 'mlflow.parentRunId': ids.get('parent') });
  expect([parent, child, broken].map((run) => run?.run.status)).toEqual(['FINISHED', 'FINISHED', 'FAILED']);
  expect([parent, gone].map((run) => run?.run.isDeleted)).toEqual([false, true]);
  expect(models).toMatchObject([
    { name: 'churn', description: 'Who leaves', aliases: [{ alias: 'champion', version: 2 }] },
  ]);
  expect(models[0]?.versions.map(({ number, runId }) => [number, runId])).toEqual([[2, ids.get('parent')]]);
});

test('a run of many points is read in parts, while its program writes the database', async () => {
  const path = join(folder, 'long.db');
  const database = await databaseOf('mlflow.sql', path);
  const [run] = database.prepare("SELECT run_uuid FROM runs WHERE name = 'child'").all();
  database.exec('BEGIN');
  const insert = database.prepare('INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)');
  for (let step = 0; step < 12_000; step += 1)
    insert.run('loss', step / 7, step, String(run?.['run_uuid']), step, 0);
  database.exec('COMMIT');
  const source = await open('mlflow', path);
  const [experiment] = (await Array.fromAsync(source.experiments())).filter(({ name }) => name === 'digits');
  if (experiment === undefined) throw new Error('There is no project.');
  const described = (await Array.fromAsync(source.runs(experiment))).find(({ name }) => name === 'child');
  if (described === undefined) throw new Error('There is no run.');
  const batches: number[] = [];
  let sum = 0;
  for await (const points of source.points(described)) {
    batches.push(points.length);
    for (const { step, value } of points) sum += Number(value) - step / 7;
    // No lock is held between two parts.
    database.exec("UPDATE runs SET name = 'child' WHERE name = 'child'");
  }
  await source.close?.();
  database.close();
  expect(batches).toEqual([...Array.from({ length: 6 }, () => 2000), 0]);
  expect(sum).toBe(0);
});

test('a file that is none, a database of another program, and a machine without Python are refused with the reason', async () => {
  const text = join(folder, 'text.db');
  await writeFile(text, 'no database');
  await expect(open('mlflow', text)).rejects.toThrow(
    /text\.db cannot be read: ValueError: it is no SQLite database/,
  );
  const other = join(folder, 'other.db');
  new DatabaseSync(other).exec('CREATE TABLE runs (id TEXT)');
  await expect(open('mlflow', other)).rejects.toThrow(
    /no database of MLflow: the tables experiments, metrics/,
  );
  await expect(open('mlflow', text, { PATH: folder })).rejects.toThrow(/Python 3 reads these records/);
  await expect(open('mlflow', 'postgresql://host/db')).rejects.toThrow(
    /Start "mlflow server --backend-store-uri/,
  );
});
