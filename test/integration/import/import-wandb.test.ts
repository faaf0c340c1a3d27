import { cp, glob, mkdtemp, open, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { importRuns } from '../../../cli/import/import-runs.ts';
import type { SourcePoint } from '../../../cli/import/source.ts';
import { mlflowServer } from '../../../cli/import/sources/mlflow-server.ts';
import { wandbFolder } from '../../../cli/import/sources/wandb-folder.ts';
import { TrackingApi } from '../../../cli/import/tracking-api.ts';
import { testService } from '../../support/service.ts';
import { mlflowBridge } from './mlflow-bridge.ts';
import { readWhole, valuesOf } from './read-whole.ts';

const golden = (version: string) => join(import.meta.dirname, `../../fixtures/import/wandb-${version}`);
const versions = ['0.16.6', '0.19.11', '0.31.0'];

/** A copy of a golden folder, with the path of its log. */
async function copyOf(version: string) {
  const folder = await mkdtemp(join(tmpdir(), 'wandb-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(golden(version), folder, { recursive: true });
  const [run = ''] = await logsOf(folder);
  return { folder, log: run };
}

async function logsOf(folder: string): Promise<string[]> {
  return Array.fromAsync(glob(join(folder, '*/*.wandb')));
}

test.each(versions)('a folder of W&B %s says the same, without its package', async (version) => {
  const { experiment, run, params, tags, points, files, omitted } = await readWhole(
    wandbFolder(golden(version)),
  );
  expect(experiment.name).toBe('digits');
  expect(run).toMatchObject({ name: 'first', status: 'FAILED' });
  expect(params).toEqual({
    lr: '0.1',
    'model.depth': '3',
    'model.sizes': '[8,16]',
    flag: 'True',
    none: 'None',
    text: 'hä',
  });
  expect(tags).toMatchObject({
    base: 'true',
    cpu: 'true',
    'mlflow.note.content': 'a note\nof two lines',
    'wandb.group': 'seeds',
    'wandb.job_type': 'train',
    'wandb.exit_code': '3',
    'wandb.step_metric': expect.stringContaining('"eval/*":"eval/iter"'),
    text: 'hello',
  });
  expect(valuesOf(points, 'loss')).toEqual([0, 1, 2, 3, 4, 5].map((step) => [step, 1 / (step + 1)]));
  expect(valuesOf(points, 'train/acc')[3]).toEqual([3, Number.NaN]);
  expect(valuesOf(points, 'huge')).toEqual([[4, Number.POSITIVE_INFINITY]]);
  expect(valuesOf(points, 'nested.b.c')).toEqual([[1, 2]]);
  expect(valuesOf(points, 'eval/acc')).toEqual([[30, 0.5]]);
  expect(valuesOf(points, 'eval/iter')).toEqual([[30, 5000]]);
  // What the program set at the end, where it differs from the last row.
  expect(valuesOf(points, 'best')).toEqual([[30, 0.97]]);
  expect(valuesOf(points, 'loss.summary')).toEqual([[30, 0.1]]);
  expect([...files.keys()]).toEqual(
    expect.arrayContaining([
      'media/images/picture_step_0.png',
      'media/images/several_step_1.png',
      'media/images/several.1_step_1.png',
      'media/audio/sound_step_2.wav',
      'media/table/rows_step_2.table.json',
      'histograms/weights_step_0.json',
    ]),
  );
  expect(files.get('output.log')).toContain('a line of the console');
  expect(files.get('import/history.ndjson')).toContain('"caption":"grey"');
  const { bins, values } = JSON.parse(files.get('histograms/weights_step_0.json') ?? '{}');
  expect(bins).toHaveLength(values.length + 1);
  expect(omitted).toEqual({});
});

test('an import of a folder of W&B comes whole, once', async () => {
  const service = await testService();
  const bridge = await mlflowBridge(service, await service.user('developer'));
  onTestFinished(async () => {
    await bridge.close();
  });
  const api = new TrackingApi(bridge.url, undefined);
  const bring = () =>
    importRuns({ source: wandbFolder(golden('0.31.0')), api, rename: (name) => name }, () => undefined);

  const first = await bring();
  const again = await bring();

  expect(first).toMatchObject({ experiments: 1, runs: 1, known: 0, omitted: {}, failures: [] });
  expect(again).toMatchObject({ runs: 1, known: 1, points: 0, failures: [] });
  const source = await readWhole(wandbFolder(golden('0.31.0')));
  const here = await readWhole(mlflowServer(api));
  const byName = (points: readonly SourcePoint[]) =>
    points.map(({ key, step, value, timestamp }) => `${key} ${step} ${value} ${timestamp}`).sort();
  expect(byName(here.points)).toEqual(byName(source.points));
  expect([...here.files.keys()].sort()).toEqual([...source.files.keys()].sort());
  expect(here.run).toMatchObject({ name: 'first', status: 'FAILED' });
  expect(here.run.params).toEqual(expect.arrayContaining([...source.run.params]));
});

test('a log that ends within a record gives what is whole, and says so', async () => {
  const { folder, log } = await copyOf('0.31.0');
  await truncate(log, 6000);
  await utimes(log, 1_700_000_000, 1_700_000_000);

  const { run, points, omitted } = await readWhole(wandbFolder(folder));

  expect(run.status).toBe('FAILED');
  expect(run.tags).toContainEqual({ key: 'import.reason', value: 'The records end before the run ended.' });
  expect(valuesOf(points, 'loss').length).toBeGreaterThan(1);
  expect(omitted).toMatchObject({ 'last records that the program did not finish': 1 });
});

test('a damaged record is passed over and counted', async () => {
  const { folder, log } = await copyOf('0.31.0');
  await using file = await open(log, 'r+');
  await file.write(Buffer.from([0x58]), 0, 1, 5000);

  const { points, omitted } = await readWhole(wandbFolder(folder));

  expect(omitted).toMatchObject({ 'damaged blocks of the records': 1 });
  expect(valuesOf(points, 'loss').length).toBeGreaterThanOrEqual(5);
});

test('a link in a run leads no further than the folder above it', async () => {
  const { folder } = await copyOf('0.31.0');
  const [log = ''] = await logsOf(folder);
  const files = join(log, '../files');
  await writeFile(join(folder, 'own.txt'), 'own');
  await symlink(join(folder, 'own.txt'), join(files, 'own.txt'));
  await symlink('/etc/hostname', join(files, 'host.txt'));

  const found = await readWhole(wandbFolder(folder));

  expect(found.files.get('own.txt')).toBe('own');
  expect(found.files.has('host.txt')).toBe(false);
  expect(found.omitted).toMatchObject({ 'links to files elsewhere': 1 });
});

test('a run that was resumed is one run with the points of both folders', async () => {
  const { folder, log } = await copyOf('0.31.0');
  await cp(join(log, '..'), join(folder, 'offline-run-20270101_000000-xx'), { recursive: true });

  const { points } = await readWhole(wandbFolder(folder));

  expect(valuesOf(points, 'loss')).toHaveLength(12);
});
