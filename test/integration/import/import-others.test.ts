import { join } from 'node:path';
import { expect, test } from 'vitest';
import { neptuneExport } from '../../../cli/import/sources/neptune-export.ts';
import { tensorboardFolder } from '../../../cli/import/sources/tensorboard-folder.ts';
import { readAll, readWhole, valuesOf } from './read-whole.ts';

const fixture = (name: string) => join(import.meta.dirname, '../../fixtures/import', name);

test("a folder of TensorBoard's event files is a project of its runs", async () => {
  const runs = await readAll(tensorboardFolder(fixture('tensorboard')));
  const first = runs.get('first');
  const second = runs.get('second');
  expect([...runs.keys()]).toEqual(['first', 'second']);
  expect(valuesOf(first?.points ?? [], 'loss')).toEqual([
    [0, 1],
    [1, 0.5],
    [2, 0.33333334],
    [3, 0.25],
    [4, 0.2],
    [5, Number.NaN],
  ]);
  expect(valuesOf(first?.points ?? [], 'both/a')).toEqual([[1, 1.5]]);
  expect(valuesOf(first?.points ?? [], 'both/b')).toEqual([[1, 2.5]]);
  expect([...(first?.files.keys() ?? [])]).toEqual([
    'images/grey_step_2.png',
    'histograms/weights_step_3.json',
  ]);
  const { bins, values } = JSON.parse(first?.files.get('histograms/weights_step_3.json') ?? '');
  expect([bins[0], bins.at(-1), bins.length - values.length]).toEqual([0, 9, 1]);
  expect(values.reduce((sum: number, count: number) => sum + count, 0)).toBe(10);
  // As in a job, both parts of Keras are metrics of one run.
  expect(valuesOf(second?.points ?? [], 'loss')).toEqual([[0, 0.5]]);
  expect(valuesOf(second?.points ?? [], 'val_loss')).toEqual([[0, 0.75]]);
  expect(first?.omitted).toEqual({});
});

test('an export of Neptune comes with fractions of steps, single results, series and files', async () => {
  const { experiment, run, params, tags, points, files, omitted } = await readWhole(
    neptuneExport(fixture('neptune')),
  );
  expect(experiment.name).toBe('digits');
  expect(run).toMatchObject({
    id: 'team/digits/DIG-1',
    name: 'first',
    status: 'FAILED',
    start: Date.UTC(2026, 0, 2),
  });
  expect(params).toEqual({ 'parameters/lr': '0.1', 'parameters/optimizer': 'adam' });
  expect(tags).toMatchObject({
    base: 'true',
    cpu: 'true',
    'mlflow.note.content': 'a note',
    'neptune.step_factor': '100',
  });
  expect(valuesOf(points, 'train/loss')).toEqual([
    [0, 1],
    [50, 1 / 2],
    [100, 1 / 3],
    [125, 1 / 4],
    [200, Number.NaN],
  ]);
  expect(valuesOf(points, 'test/accuracy')).toEqual([[0, 0.97]]);
  expect(valuesOf(points, 'system/cpu')).toEqual([[0, 50]]);
  expect(files.get('monitoring/stdout.log')).toBe('a line\n');
  expect(files.get('model.bin')).toBe('model');
  expect([...files.keys()]).toContain('pictures_step_125.png');
  expect(files.get('histograms/weights_step_100.json')).toBe('{"bins":[0,1,2],"values":[3,4]}');
  expect(omitted).toEqual({ 'files that are not in the export': 1, 'links to files elsewhere': 1 });
});
