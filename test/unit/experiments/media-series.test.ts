import { expect, test } from 'vitest';
import { mediaSeries } from '../../../shared/experiments/media-series.ts';

const seriesOf = (...paths: string[]) => mediaSeries(paths.map((path) => ({ path, size: 1 })));
const stepsByKey = (...paths: string[]) =>
  Object.fromEntries(seriesOf(...paths).map(({ key, items }) => [key, items.map(({ step }) => step)]));

test.each([
  ['%', '#'],
  ['+', '~'],
])('a picture of mlflow.log_image, separated by %s, is shown small and kept whole', (mark, slash) => {
  const name = (step: number) =>
    `images/val${slash}samples${mark}step${mark}${step}${mark}timestamp${mark}1728370000123${mark}h1b2c3d4-0000-4000-8000-00000000000${step}`;

  const [series, ...others] = seriesOf(
    ...[10, 2].flatMap((step) => [`${name(step)}.png`, `${name(step)}${mark}compressed.webp`]),
  );

  expect(others).toEqual([]);
  expect(series).toMatchObject({ key: 'val/samples', kind: 'picture' });
  expect(series?.items.map(({ step, path, original }) => [step, path, original])).toEqual([
    [2, `${name(2)}${mark}compressed.webp`, `${name(2)}.png`],
    [10, `${name(10)}${mark}compressed.webp`, `${name(10)}.png`],
  ]);
});

test('a picture of MLflow without its smaller copy is shown itself', () => {
  expect(stepsByKey('images/a%step%3%timestamp%1%habc.png')).toEqual({ a: [3] });
});

test('files with a step in their name are a series, in the order of numbers', () => {
  expect(
    stepsByKey(
      'samples/epoch_12.png',
      'samples/epoch_2.png',
      'step-100/attention.jpg',
      'step-20/attention.jpg',
      'grid/0001.png',
      'grid/0010.png',
      'rec-3.wav',
      'rec-12.wav',
    ),
  ).toEqual({ samples: [2, 12], attention: [20, 100], grid: [1, 10], rec: [3, 12] });
});

test('a number that one file alone has is part of its name', () => {
  expect(stepsByKey('resnet50.png', 'roc.png')).toEqual({ resnet50: [null], roc: [null] });
});

test('JSON files of a folder of histograms are series of them, as each writer names them', () => {
  const series = seriesOf(
    'histograms/layer1.weight_step_0.json',
    'histograms/layer1.weight_step_100.json',
    'wandb/histograms/gradients/fc_step_3.json',
    'nested/histograms/w_1.json',
    'nested/histograms/w_2.json',
    'histograms.json',
    'histograms/notes.txt',
    'my_histograms/a_1.json',
  );

  expect(series.map(({ kind, key, items }) => [kind, key, items.map(({ step }) => step)])).toEqual([
    ['histogram', 'histograms/layer1.weight', [0, 100]],
    ['histogram', 'nested/histograms/w', [1, 2]],
    ['histogram', 'wandb/histograms/gradients/fc', [3]],
  ]);
});

test('pictures and sounds with one name are two series, and other files are none', () => {
  const series = seriesOf('a_1.png', 'a_2.png', 'a_1.wav', 'a_2.wav', 'model_1.onnx', 'log_2.txt');

  expect(series.map(({ key, kind }) => [key, kind]).sort()).toEqual([
    ['a', 'audio'],
    ['a', 'picture'],
  ]);
});

test('event files of TensorBoard are series by their folders', () => {
  const name = (time: number) => `events.out.tfevents.${time}.host.1`;
  const series = seriesOf(`runs/a/${name(2)}`, `runs/a/${name(1)}`, name(3), 'runs/b/events.out.txt');
  expect(
    series.map(({ key, kind, items }) => [key, kind, items.map(({ path, step }) => [path, step])]),
  ).toEqual([
    ['TensorBoard', 'events', [[name(3), null]]],
    [
      'runs/a',
      'events',
      [
        [`runs/a/${name(1)}`, null],
        [`runs/a/${name(2)}`, null],
      ],
    ],
  ]);
});
