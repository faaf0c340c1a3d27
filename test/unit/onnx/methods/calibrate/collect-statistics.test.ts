import { expect, test } from 'vitest';
import type { Feed } from '../../../../../shared/onnx/measure/session/stage-task.ts';
import { syntheticFeeds } from '../../../../../shared/onnx/measure/session/synthetic.ts';
import { collectStatistics } from '../../../../../shared/onnx/methods/calibrate/collect-statistics.ts';
import { readStatistics } from '../../../../../shared/onnx/methods/calibrate/statistics-file.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { nonEmpty } from '../../../../support/non-empty.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';
import { testFolder } from '../../../../support/onnx/stage-program.ts';

const input = { type: 'float', declared: null, values: 'normal', below: 0 } as const;
const feed: Feed = {
  inputs: [
    { ...input, name: 'x', dims: [2, 3, 4] },
    { ...input, name: 'p', dims: [1, 3, 2, 2] },
  ],
  set: null,
  source: 'synthetic',
  samples: 1,
  seed: 5,
};

/** What the rows [rows, channels] of a value are expected to show. */
function expected(rows: number[][]) {
  const [first = []] = rows;
  const mean = first.map((_, at) => rows.reduce((sum, row) => sum + (row[at] ?? 0), 0) / rows.length);
  const largest = first.map((_, at) => Math.max(...rows.map((row) => Math.abs(row[at] ?? 0))));
  const moment = first.flatMap((_, a) =>
    first.map((__, b) => rows.reduce((sum, row) => sum + (row[a] ?? 0) * (row[b] ?? 0), 0) / rows.length),
  );
  return { rows: rows.length, mean, largest, moment };
}

test('statistics are those of all tokens and of all pixels, of inputs as of what is made in between', async () => {
  const model = smallModel({
    nodes: [makeNode('Neg', ['x'], ['n']), makeNode('Relu', ['n'], ['y']), makeNode('Relu', ['p'], ['q'])],
    constants: [],
    inputs: { x: [2, 3, 4], p: [1, 3, 2, 2] },
    outputs: { y: [2, 3, 4], q: [1, 3, 2, 2] },
  });
  const folder = await testFolder();
  const wanted = [
    { name: 'n', axis: -1, channels: 4, hasMoment: true },
    { name: 'p', axis: 1, channels: 3, hasMoment: true },
    { name: 'y', axis: -1, channels: 4, hasMoment: false },
  ];
  const fed = await collectStatistics(model, wanted, { feed, folder, progress: () => {} });
  expect(fed.samples).toBe(1);
  const feeds = syntheticFeeds(feed.inputs, feed.seed);
  const [x, p] = ['x', 'p'].map((name) => Array.from((feeds.get(name)?.values ?? []) as Float32Array));
  const tokens = Array.from({ length: 6 }, (_, row) => (x ?? []).slice(4 * row, 4 * row + 4).map((v) => -v));
  const pixels = Array.from({ length: 4 }, (_, at) =>
    [0, 4, 8].map((channel) => (p ?? [])[channel + at] ?? 0),
  );
  const found = readStatistics(folder);
  for (const [name, rows] of [
    ['n', tokens],
    ['p', pixels],
  ] as const) {
    const wantedOf = expected(rows);
    const one = found.get(name);
    expect(one?.rows).toBe(wantedOf.rows);
    for (const part of ['mean', 'largest'] as const)
      for (const [at, value] of nonEmpty(one?.[part]).entries())
        expect(value).toBeCloseTo(wantedOf[part][at] ?? 0, 6);
    expect(one?.moment()).toHaveLength(wantedOf.moment.length);
    for (const [at, value] of nonEmpty(one?.moment()).entries())
      expect(value).toBeCloseTo(wantedOf.moment[at] ?? 0, 5);
  }
  expect(found.get('y')).toMatchObject({ rows: 6, channels: 4 });
  expect(found.get('y')?.moment()).toBeUndefined();
});

test('a value with another number of channels is refused', async () => {
  const model = smallModel({
    nodes: [makeNode('Relu', ['x'], ['y']), makeNode('Relu', ['p'], ['q'])],
    constants: [],
    inputs: { x: [2, 3, 4], p: [1, 3, 2, 2] },
    outputs: { y: [2, 3, 4], q: [1, 3, 2, 2] },
  });
  const wanted = [{ name: 'y', axis: 1, channels: 4, hasMoment: false }];
  const folder = await testFolder();
  await expect(collectStatistics(model, wanted, { feed, folder, progress: () => {} })).rejects.toThrow(
    'The value "y" is [2, 3, 4], but needs 4 channels along axis 1.',
  );
});

test('statistics of a value in half precision are those of its numbers', async () => {
  const model = smallModel({
    nodes: [
      makeNode('Cast', ['x'], ['h'], { attributes: { to: 10 } }),
      makeNode('Cast', ['h'], ['y'], { attributes: { to: 1 } }),
      makeNode('Relu', ['p'], ['q']),
    ],
    constants: [],
    inputs: { x: [2, 3, 4], p: [1, 3, 2, 2] },
    outputs: { y: [2, 3, 4], q: [1, 3, 2, 2] },
  });
  const folder = await testFolder();
  const wanted = [{ name: 'h', type: 'float16', axis: -1, channels: 4, hasMoment: true }] as const;

  await collectStatistics(model, wanted, { feed, folder, progress: () => {} });

  const x = Array.from((syntheticFeeds(feed.inputs, feed.seed).get('x')?.values ?? []) as Float32Array);
  const rows = Array.from({ length: 6 }, (_, row) => x.slice(4 * row, 4 * row + 4));
  const found = readStatistics(folder).get('h');
  expect(found?.rows).toBe(6);
  for (const [at, value] of expected(rows).mean.entries()) expect(found?.mean[at]).toBeCloseTo(value, 2);
});
