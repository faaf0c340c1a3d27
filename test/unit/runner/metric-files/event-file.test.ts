import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  EventFile,
  type PictureEvent,
  type SoundEvent,
} from '../../../../shared/runner/metric-files/event-file.ts';
import { EventNames } from '../../../../shared/runner/metric-files/event-names.ts';
import { seededBytes } from '../../../support/seeded-bytes.ts';
import {
  delimited,
  eventOf,
  histogramOf,
  pictureOf,
  recordOf,
  scalarOf,
  tensorHistogramOf,
  tensorPictureOf,
  tensorScalarOf,
} from './event-files.ts';

const written = readFileSync('test/fixtures/metric-files/events.out.tfevents.tensorboardx');

describe('an event file', () => {
  test('has the scalars that tensorboardX wrote, and no histogram or text', () => {
    const found = new EventFile().read(written);

    expect(found).toHaveLength(11);
    expect(found.slice(0, 4)).toEqual([
      { tag: 'train/loss', value: 1, step: 0, time: 1_764_000_000_000 },
      { tag: 'val_acc', value: 0, step: 0, time: 1_764_000_000_000 },
      { tag: 'train/loss', value: 0.5, step: 1, time: 1_764_000_001_000 },
      { tag: 'val_acc', value: 0.2, step: 1, time: 1_764_000_001_000 },
    ]);
    expect(found.at(-1)).toMatchObject({ tag: 'train/loss', value: Number.NaN, step: 5 });
  });

  test('is read as it grows, wherever it is cut', () => {
    for (const size of [1, 7, 100]) {
      const file = new EventFile();
      const found = [];
      for (let at = 0; at < written.length; at += size)
        found.push(...file.read(written.subarray(at, at + size)));
      expect(found).toHaveLength(11);
    }
  });

  test('has scalars of TensorFlow 2, whose plugin is named once, and no other tensors', () => {
    const file = new EventFile();
    const found = file.read(
      Buffer.concat([
        recordOf(eventOf(0, tensorScalarOf('epoch_loss', 0.7, 'scalars'))),
        recordOf(eventOf(1, tensorScalarOf('epoch_loss', 0.25, undefined))),
        recordOf(eventOf(1, tensorScalarOf('image', 1, 'images'))),
        recordOf(eventOf(1, tensorScalarOf('unknown', 1, undefined))),
      ]),
    );

    expect(found.map(({ tag, value, step }) => [tag, value, step])).toEqual([
      ['epoch_loss', 0.7, 0],
      ['epoch_loss', 0.25, 1],
    ]);
  });

  test('has whole numbers as they are, and others as they were written', () => {
    const values = [2 ** 40, 16_777_216, 0.1, 1e20];
    const found = new EventFile().read(
      Buffer.concat(values.map((value, step) => recordOf(eventOf(step, scalarOf('frames', value))))),
    );

    expect(found.map(({ value }) => value)).toEqual(values);
  });

  test('has sounds of both forms, which are other values for a reader that asks for none', () => {
    const wav = Buffer.from('RIFF....WAVE');
    const old = Buffer.concat([delimited(1, Buffer.from('voice')), delimited(6, delimited(4, wav))]);
    const strings = Buffer.concat([
      Buffer.from([0x08, 7]),
      delimited(8, wav),
      delimited(8, Buffer.from('label')),
    ]);
    const plugin = delimited(9, delimited(1, delimited(1, Buffer.from('audio'))));
    const newer = Buffer.concat([delimited(1, Buffer.from('tone')), delimited(8, strings), plugin]);
    const bytes = Buffer.concat([recordOf(eventOf(1, old)), recordOf(eventOf(2, newer))]);
    const sounds: SoundEvent[] = [];
    const others: unknown[] = [];

    new EventFile({ onSound: (sound) => sounds.push(sound) }).read(bytes);
    new EventFile({ onOther: (one) => others.push(one) }).read(bytes);

    expect(sounds.map(({ tag, step, file }) => [tag, step, Buffer.from(file)])).toEqual([
      ['voice', 1, wav],
      ['tone', 2, wav],
    ]);
    expect(others).toEqual([undefined, 'audio']);
  });

  test('has pictures for a reader that asks for them, of both forms and as large as pictures are', () => {
    const png = Buffer.concat([Buffer.from([0x89, 0x50]), Buffer.alloc(500_000, 1)]);
    const pictures: PictureEvent[] = [];
    const file = new EventFile({ onPicture: (picture) => pictures.push(picture) });
    const found = file.read(
      Buffer.concat([
        recordOf(eventOf(1, pictureOf('samples', png))),
        recordOf(eventOf(2, tensorPictureOf('samples2', png))),
        recordOf(eventOf(3, scalarOf('loss', 1))),
      ]),
    );

    expect(pictures.map(({ tag, step, file: { length } }) => [tag, step, length])).toEqual([
      ['samples', 1, 500_002],
      ['samples2', 2, 500_002],
    ]);
    expect(found).toMatchObject([{ tag: 'loss', step: 3 }]);
  });

  test('ends at a damaged length, and passes over a damaged record', () => {
    const [first, second] = [recordOf(eventOf(1, scalarOf('a', 1))), recordOf(eventOf(2, scalarOf('a', 2)))];
    const torn = Buffer.from(first);
    torn[14] = (torn[14] ?? 0) ^ 1;
    const damaged = Buffer.from(first);
    damaged[3] = 1;

    expect(new EventFile().read(Buffer.concat([torn, second]))).toMatchObject([{ step: 2 }]);
    const file = new EventFile();
    expect(file.read(Buffer.concat([second, damaged, second]))).toMatchObject([{ step: 2 }]);
    expect(file.isDamaged).toBe(true);
  });

  test('passes over large records, and keeps nothing of them', () => {
    const picture = recordOf(Buffer.alloc(5_000_000, 1));
    const file = new EventFile();
    const found = [
      picture.subarray(0, 1_000),
      picture.subarray(1_000),
      recordOf(eventOf(3, scalarOf('a', 3))),
    ];

    expect(found.flatMap((bytes) => file.read(bytes))).toMatchObject([{ step: 3 }]);
  });

  test('with hostile records has no scalars and costs no more than its bytes', () => {
    const random = seededBytes(11);
    for (let round = 0; round < 300; round += 1) {
      const event = Buffer.from(eventOf(1, scalarOf('loss', 1)));
      event[round % event.length] = random(1)[0] ?? 0;
      expect(() => new EventFile().read(recordOf(event))).not.toThrow();
      expect(() => new EventFile().read(recordOf(Buffer.from(random(40))))).not.toThrow();
    }
  });
});

describe('scalars of several folders', () => {
  test('are named as Keras prints them', () => {
    const names = new EventNames();
    expect(names.nameOf('logs/train/events', 'epoch_loss', 1)).toBe('loss');
    expect(names.nameOf('logs/validation/events', 'epoch_loss', 1)).toBe('val_loss');
    expect(names.nameOf('logs/test/events', 'acc', 1)).toBe('test/acc');
  });

  test('have their folder in front where another has the same tag', () => {
    const names = new EventNames();
    expect(names.nameOf('runs/a/events', 'loss', 1)).toBe('loss');
    expect(names.nameOf('runs/b/events', 'loss', 1)).toBe('b/loss');
    expect(names.nameOf('runs/a/events', 'train/epoch', 1)).toBeUndefined();
    expect(names.nameOf('runs/a/events', 'eval/samples_per_second', 1)).toBeUndefined();
    expect(names.nameOf('runs/a/events', 'hp_metric', -1)).toBeUndefined();
  });

  test('are lines of PyTorch by the name of their folder', () => {
    const names = new EventNames();
    for (const path of ['runs/a/events', 'runs/a/loss_train/events']) names.add(path);
    expect(names.nameOf('runs/a/loss_train/events', 'loss', 1)).toBe('loss_train');
  });

  test('are lines of tensorboardX by the folders below its writer', () => {
    const names = new EventNames();
    const lines = ['val/loss/a', 'val/loss/b'];
    for (const path of ['', ...lines]) names.add(`runs/x/${path}/events`.replace('//', '/'));
    expect(lines.map((path) => names.nameOf(`runs/x/${path}/events`, 'val/loss', 1))).toEqual(lines);
  });
});

test('histograms are read as PyTorch and TensorFlow 2 write them, without empty bins', () => {
  const found: unknown[] = [];
  const file = new EventFile({ onHistogram: (histogram) => found.push(histogram) });

  file.read(
    Buffer.concat([
      recordOf(
        eventOf(3, histogramOf('grad', { min: -1, max: 2, limits: [-0.5, 0, 1, 5], counts: [4, 0, 3, 1] })),
      ),
      recordOf(
        eventOf(
          4,
          tensorHistogramOf('weights', [
            [0, 1, 2],
            [1, 2, 0],
          ]),
        ),
      ),
    ]),
  );

  expect(found).toEqual([
    {
      tag: 'grad',
      step: 3,
      bins: [
        { low: -1, high: -0.5, count: 4 },
        { low: 0, high: 1, count: 3 },
        { low: 1, high: 2, count: 1 },
      ],
    },
    { tag: 'weights', step: 4, bins: [{ low: 0, high: 1, count: 2 }] },
  ]);
});

test('a histogram may have more bins than a call has arguments', () => {
  const found: number[] = [];
  const file = new EventFile({ onPicture() {}, onHistogram: ({ bins }) => found.push(bins.length) });
  const limits = Array.from({ length: 200_000 }, (_, index) => index + 1);
  const counts = limits.map(() => 1);

  file.read(recordOf(eventOf(1, histogramOf('grad', { min: 0, max: 200_000, limits, counts }))));

  expect(found).toEqual([200_000]);
});
