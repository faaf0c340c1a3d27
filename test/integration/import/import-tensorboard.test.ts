import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tensorboardFolder } from '../../../cli/import/sources/tensorboard-folder.ts';
import {
  eventOf,
  graphOf,
  hparamsOf,
  pictureOf,
  recordOf,
  scalarOf,
  soundOf,
  startOf,
  tensorHistogramOf,
  tensorPictureOf,
  textOf,
} from '../../unit/runner/metric-files/event-files.ts';
import { readAll, valuesOf } from './read-whole.ts';

/** Write event files by their paths, as programs that ended long ago, and read them. */
async function runsOf(files: Readonly<Record<string, readonly Buffer[] | Buffer>>) {
  const folder = await mkdtemp(join(tmpdir(), 'events-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [path, events] of Object.entries(files)) {
    const local = join(folder, path);
    await mkdir(dirname(local), { recursive: true });
    await writeFile(local, Buffer.isBuffer(events) ? events : Buffer.concat(events.map(recordOf)));
    await utimes(local, 1_764_000_000, 1_764_000_000);
  }
  const runs = await readAll(tensorboardFolder(folder));
  return {
    names: [...runs.keys()],
    run(name: string) {
      const found = runs.get(name);
      if (found === undefined) throw new Error(`There is no run ${name}.`);
      return found;
    },
  };
}

const png = (byte: number) => Buffer.from([0x89, 0x50, byte]);

test('each session of a search is a run of its own, also where its folder is below another', async () => {
  const session = (lr: number) => [
    eventOf(0, hparamsOf({ lr })),
    eventOf(0, scalarOf('hparam/accuracy', lr * 10)),
  ];
  const config = eventOf(0, textOf('_hparams_/experiment', '', 'hparams'));

  const { names, run } = await runsOf({
    'mine/events.out.tfevents.0': [eventOf(3, scalarOf('loss', 1))],
    'mine/17.1/events.out.tfevents.1': session(0.5),
    'mine/17.2/events.out.tfevents.1': session(2),
    'mine/17.2/val/events.out.tfevents.1': [eventOf(0, scalarOf('loss', 4))],
    'tuning/events.out.tfevents.0': [config],
    'tuning/run-0/events.out.tfevents.1': session(1),
    'tuning/run-1/events.out.tfevents.1': session(3),
    'single/events.out.tfevents.0': [eventOf(3, scalarOf('loss', 1))],
    'single/17.1/events.out.tfevents.1': session(7),
  });

  expect(names.toSorted()).toEqual([
    'mine',
    'mine/17.1',
    'mine/17.2',
    'single',
    'tuning/run-0',
    'tuning/run-1',
  ]);
  expect([run('mine').params, run('mine/17.1').params, run('mine/17.2').params]).toEqual([
    {},
    { lr: '0.5' },
    { lr: '2' },
  ]);
  expect(valuesOf(run('tuning/run-1').points, 'hparam/accuracy')).toEqual([[0, 30]]);
  expect(valuesOf(run('mine/17.2').points, 'val/loss')).toEqual([[0, 4]]);
  expect([run('single').params, run('single').omitted]).toEqual([{ lr: '7' }, {}]);
});

test('values of one name in folders that end alike, as those of folds, stay apart', async () => {
  const fold = (value: number) => [eventOf(1, scalarOf('loss', value))];

  const { run } = await runsOf({
    'cv/events.out.tfevents.0': [eventOf(0, scalarOf('mean', 1))],
    'cv/fold0/train/events.out.tfevents.0': fold(1),
    'cv/fold1/train/events.out.tfevents.0': fold(2),
    'cv/fold2/more/train/events.out.tfevents.0': fold(3),
    'cv/fold3/more/train/events.out.tfevents.0': fold(4),
  });

  const { points } = run('cv');
  expect(points.map(({ key, value }) => [key, value])).toEqual([
    ['mean', 1],
    ['train/loss', 1],
    ['fold1/train/loss', 2],
    ['more/train/loss', 3],
    ['fold3/more/train/loss', 4],
  ]);
});

test('pictures, sounds, histograms and texts of one name and step stay apart', async () => {
  const wav = Buffer.from('RIFF....WAVE');
  const values = (byte: number) => [
    eventOf(2, pictureOf('grey', png(byte))),
    eventOf(2, tensorHistogramOf('weights', [[0, 1, byte]])),
    eventOf(2, soundOf('voice', Buffer.concat([wav, Buffer.from([byte])]))),
    eventOf(2, textOf('note', `text ${byte}`, 'text')),
  ];

  const { run } = await runsOf({
    'a/train/events.out.tfevents.0': values(1),
    'a/validation/events.out.tfevents.0': values(2),
    'b/events.out.tfevents.0': [...values(3), ...values(4)],
    'b/events.out.tfevents.1': [eventOf(5, tensorPictureOf('many', png(6), png(7)))],
  });

  const pictures = (name: string) => [...run(name).files].filter(([path]) => path.startsWith('images/'));
  expect(pictures('a').map(([path]) => path)).toEqual([
    'images/train/grey_step_2.png',
    'images/validation/grey_step_2.png',
  ]);
  expect(pictures('b').map(([path]) => path)).toEqual([
    'images/grey_step_2.png',
    'images/grey.1_step_2.png',
    'images/many_step_5.png',
    'images/many.1_step_5.png',
  ]);
  expect(new Set([...run('b').files.values()]).size).toBe(run('b').files.size);
  expect([...run('b').files.keys()]).toEqual(
    expect.arrayContaining([
      ...['histograms/weights_step_2.json', 'histograms/weights.1_step_2.json'],
      ...['sounds/voice_step_2.wav', 'sounds/voice.1_step_2.wav'],
    ]),
  );
  expect(run('a').files.get('import/history.ndjson')?.trim().split('\n')).toEqual([
    '{"step":2,"key":"train/note","value":"text 1"}',
    '{"step":2,"key":"validation/note","value":"text 2"}',
  ]);
  expect([run('a').omitted, run('b').omitted]).toEqual([{}, {}]);
});

test('what is damaged, replaced or of no form here is counted', async () => {
  const loss = (step: number) => eventOf(step, scalarOf('loss', step));
  const wrong = Buffer.from(recordOf(loss(1)));
  wrong[20] = (wrong[20] ?? 0) ^ 1;

  const { run } = await runsOf({
    'a/events.out.tfevents.0': Buffer.concat([recordOf(loss(0)), wrong, recordOf(loss(2)).subarray(0, -5)]),
    'b/events.out.tfevents.0': [0, 1, 2, 3].map(loss),
    'b/events.out.tfevents.1': [startOf(2), loss(2), eventOf(2, textOf('curve', '', 'pr_curves')), graphOf()],
    'b/hparams.yaml': [],
    'b/checkpoints/last.ckpt': [],
    'c/no-events.txt': [],
  });

  expect(valuesOf(run('a').points, 'loss')).toEqual([[0, 0]]);
  expect(run('a').omitted).toEqual({
    'damaged records of event files': 1,
    'last records that the program did not finish': 1,
  });
  expect(valuesOf(run('b').points, 'loss')).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
  ]);
  expect(run('b').omitted).toEqual({
    'values that a later writer replaced (purge_step)': 2,
    'pr_curves values of TensorBoard': 1,
    'graphs of TensorBoard': 1,
    'files beside the event files': 2,
  });
});

test('a run whose clock was before 1970 begins no later than it ends', async () => {
  const { run } = await runsOf({
    'a/events.out.tfevents.0': [
      eventOf(0, scalarOf('loss', 1), -5),
      eventOf(1, scalarOf('loss', 1), 1_764_000_000),
    ],
  });

  expect(run('a').run).toMatchObject({ start: 1_764_000_000_000, end: 1_764_000_000_000 });
});
