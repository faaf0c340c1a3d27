import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { wandbFolder } from '../../../cli/import/sources/wandb-folder.ts';
import { readWhole, valuesOf } from './read-whole.ts';
import { config, ended, field, item, writeLog } from './wandb-log-file.ts';

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'records-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** The only run of logs by their folders, each with these records. */
async function runOf(logs: Readonly<Record<string, readonly Buffer[]>>, files: Record<string, string> = {}) {
  const folder = await scratch();
  for (const [name, records] of Object.entries(logs)) await writeLog(join(folder, name), 'a', ...records);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return readWhole(wandbFolder(folder));
}

const run = (...fields: Buffer[]) => field(17, Buffer.concat([field(1, 'a'), field(3, 'digits'), ...fields]));
const row = (step: number, ...items: Buffer[]) =>
  field(2, Buffer.concat([...items, field(2, field(1, step))]));
const startedAt = (seconds: number) => run(field(17, field(1, seconds)));

test('long whole numbers and numbers that JSON lacks keep their digits and words in the params', async () => {
  const { params, points } = await runOf({
    one: [
      config(
        item(['seed'], '9223372036854775807'),
        item(['sizes'], '[-12345678901234567890, 0.1234567890123456789, "12345678901234567890"]'),
        item(['rates'], '[NaN, {"a": -Infinity}, 1e-7]'),
      ),
      row(0, item(['big'], '1152921504606846977')),
      ended,
    ],
  });

  expect(params).toEqual({
    seed: '9223372036854775807',
    sizes: '["-12345678901234567890",0.12345678901234568,"12345678901234567890"]',
    rates: '["NaN",{"a":"-Infinity"},1e-7]',
  });
  expect(valuesOf(points, 'big')).toEqual([[0, 2 ** 60]]);
});

test('names that begin with a line come, but for those of W&B itself', async () => {
  const own = ['_step', '_timestamp', '_runtime', '_wandb'].map((name) => item([name], '7'));
  const { params, points } = await runOf({
    one: [
      config(...own, item(['_mine'], '1')),
      row(7, ...own, item(['_loss'], '2')),
      field(3, Buffer.concat([...own, item(['_best'], '3')])),
      ended,
    ],
  });

  expect(params).toEqual({ _mine: '1' });
  expect(points.map(({ key, value }) => [key, value])).toEqual([
    ['_loss', 2],
    ['_best', 3],
  ]);
});

test('a run has the tags that were set last', async () => {
  const { tags } = await runOf({
    one: [run(field(10, 'old'), field(10, 'base')), run(field(10, 'base'), field(10, 'new')), ended],
  });

  expect(Object.keys(tags).filter((name) => !name.includes('.'))).toEqual(['base', 'new']);
});

test('a resumed run ends when its last part ended, and has the files of both', async () => {
  const files = (name: string, log: string) => ({
    [`${name}/files/output.log`]: log,
    [`${name}/files/requirements.txt`]: 'numpy\n',
  });

  const resumed = await runOf(
    {
      'run-1': [startedAt(1000), field(18, field(2, 5))],
      'run-2': [startedAt(9000), field(18, field(2, 7))],
    },
    { ...files('run-1', 'first\n'), ...files('run-2', 'second\n') },
  );

  expect(resumed.run).toMatchObject({ start: 1_000_000, end: 9_007_000, status: 'FINISHED' });
  expect(Object.fromEntries(resumed.files)).toEqual({
    'output.log': 'first\n',
    'requirements.txt': 'numpy\n',
    'resumed/1/output.log': 'second\n',
  });
});

/** Where a run goes on: another one, or itself. */
const forkedFrom = (id: string, step: number) => {
  const value = Buffer.alloc(9, 0x11);
  value.writeDoubleLE(step, 1);
  return field(23, Buffer.concat([field(1, id), value, field(3, '_step')]));
};

test('a rewound run has no values beyond the step from which it goes on, and is not its own parent', async () => {
  const rows = (from: number, to: number, value: number) =>
    Array.from({ length: to - from }, (_, at) => row(from + at, item(['loss'], String(value))));
  const summary = (...names: string[]) => field(3, Buffer.concat(names.map((name) => item([name], '1'))));

  const { points, tags, omitted } = await runOf({
    'run-1': [...rows(0, 4, 1), summary('early', 'loss'), ended],
    'run-2': [run(forkedFrom('a', 1)), ...rows(2, 3, 2), summary('late'), ended],
  });

  expect(points.map(({ key, step, value }) => [key, step, value])).toEqual([
    ...[
      ['loss', 0, 1],
      ['loss', 1, 1],
      ['loss', 2, 2],
    ],
    ['late', 2, 1],
  ]);
  expect(tags).toMatchObject({ 'wandb.rewound_to': '1' });
  expect(Object.keys(tags)).not.toContain('mlflow.parentRunId');
  expect(omitted).toEqual({ 'rows that the run replaced when it was rewound': 2 });
});

test('pictures of one list are numbered in its order, and its captions name their files', async () => {
  const path = (digit: string) => `media/images/val_3_${digit.repeat(20)}.png`;
  const list = {
    _type: 'images/separated',
    filenames: [path('b'), path('a'), path('b')],
    captions: ['x', 'y', 'z'],
  };

  const { files } = await runOf(
    { one: [row(3, item(['val'], JSON.stringify(list))), ended] },
    { [`one/files/${path('a')}`]: 'second', [`one/files/${path('b')}`]: 'first' },
  );

  expect(files.get('media/images/val_step_3.png')).toBe('first');
  expect(files.get('media/images/val.1_step_3.png')).toBe('second');
  expect(JSON.parse(files.get('import/history.ndjson') ?? '{}').value).toEqual({
    ...list,
    filenames: ['val', 'val.1', 'val'].map((name) => `media/images/${name}_step_3.png`),
  });
});

test('each version of an artifact comes, with what it says of itself, and the pictures of tables', async () => {
  const folder = await scratch();
  const at = (name: string) => join(folder, 'run', name);
  const entry = (path: string, local: string, reference = '') =>
    field(4, Buffer.concat([field(1, path), field(6, local), ...(reference ? [field(3, reference)] : [])]));
  const artifact = (type: string, name: string, digest: string, entries: Buffer[], ...more: Buffer[]) =>
    field(
      8,
      Buffer.concat([
        ...[field(4, type), field(5, name), field(6, digest), ...more],
        field(12, Buffer.concat(entries)),
      ]),
    );
  await writeLog(
    join(folder, 'run'),
    'a',
    artifact('model', 'net', 'd0', [entry('w.bin', at('w0'))], field(7, 'first'), field(8, '{"k":1}')),
    artifact('model', 'net', 'd1', [entry('w.bin', at('w1'))], field(11, 'best'), field(11, 'latest')),
    artifact('model', 'net', 'd1', [entry('w.bin', at('w1'))]),
    artifact('code', 'source', 'd2', [entry('train.py', at('w1'))]),
    artifact('dataset', 'far', 'd3', [entry('x', '', 's3://bucket/x')]),
    artifact('run_table', 'run-a-rows', 'd4', [
      entry('rows.table.json', at('w0')),
      entry('media/images/1f.png', at('w1')),
    ]),
    ended,
  );
  for (const name of ['w0', 'w1']) await writeFile(at(name), name);

  const { files, omitted } = await readWhole(wandbFolder(folder));

  const described = JSON.parse(files.get('import/artifacts.json') ?? '[]');
  files.delete('import/artifacts.json');
  expect(Object.fromEntries(files)).toEqual({
    'artifacts/net/v0/w.bin': 'w0',
    'artifacts/net/v1/w.bin': 'w1',
    'artifacts/source/train.py': 'w1',
    'media/images/1f.png': 'w1',
  });
  expect(described).toMatchObject([
    { name: 'net', folder: 'artifacts/net/v0', description: 'first', metadata: '{"k":1}', aliases: [] },
    { name: 'net', folder: 'artifacts/net/v1', aliases: ['best', 'latest'] },
    { name: 'source', folder: 'artifacts/source' },
    { name: 'far', references: [{ path: 'x', reference: 's3://bucket/x' }] },
  ]);
  expect(omitted).toEqual({ 'artifact far: references, listed in import/artifacts.json': 1 });
});

test('alerts, a fork, the program and event files that W&B would read are not lost', async () => {
  const {
    run: read,
    tags,
    files,
    omitted,
  } = await runOf({
    one: [
      run(forkedFrom('parent', 5)),
      field(10, Buffer.concat([field(1, 'Hot'), field(2, 'over 90 °C'), field(3, 'WARN')])),
      field(
        26,
        Buffer.concat([
          ...[field(2, 'CPython 3.11'), field(5, '--lr'), field(5, '1'), field(6, 'train.py')],
          field(9, Buffer.concat([field(1, 'https://host/repo'), field(2, 'abc')])),
        ]),
      ),
      field(26, Buffer.concat([field(16, 8), field(21, field(1, 4096))])),
      field(9, field(1, 'runs')),
      ended,
    ],
  });

  expect(read.status).toBe('FINISHED');
  expect(tags).toMatchObject({
    'mlflow.parentRunId': 'digits/parent',
    'wandb.forked_from': 'parent?_step=5',
    'mlflow.source.git.commit': 'abc',
    'mlflow.source.git.repoURL': 'https://host/repo',
  });
  expect(JSON.parse(files.get('wandb-metadata.json') ?? '{}')).toEqual({
    ...{ python: 'CPython 3.11', args: ['--lr', '1'], program: 'train.py', cpu_count: 8 },
    ...{ git: { remote: 'https://host/repo', commit: 'abc' }, memory: { total: 4096 } },
  });
  expect(JSON.parse(files.get('import/alerts.ndjson') ?? '{}')).toEqual({
    title: 'Hot',
    text: 'over 90 °C',
    level: 'WARN',
  });
  expect(omitted).toEqual({ 'folders of TensorBoard (sync_tensorboard): import them as such': 1 });
});
