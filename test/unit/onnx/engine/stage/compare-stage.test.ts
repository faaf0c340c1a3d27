import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { compareStage } from '../../../../../shared/onnx/engine/stage/compare-stage.ts';
import type { Feed } from '../../../../../shared/onnx/measure/session/stage-task.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { saveModel } from '../../../../../shared/onnx/model/file/save-model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import { TypeProto_SequenceSchema, TypeProtoSchema } from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';
import { testFolder } from '../../../../support/onnx/stage-program.ts';
import { writeNpz } from '../../../../support/onnx/write-npz.ts';

/** Two scores, and the same once more as a sequence. */
function classifier(...weights: number[]): Model {
  const model = smallModel({
    nodes: [makeNode('MatMul', ['x', 'w'], ['y']), makeNode('SequenceConstruct', ['y'], ['s'])],
    constants: [makeTensor('w', 'float', [2, 2], Float32Array.from(weights))],
    inputs: { x: ['N', 2] },
    outputs: { y: ['N', 2] },
  });
  const { type } = valueInfoOf({ name: '', type: 'float', dims: undefined });
  const sequence = valueInfoOf({ name: 's', type: 'float', dims: undefined });
  const value = create(TypeProto_SequenceSchema, type === undefined ? {} : { elemType: type });
  sequence.type = create(TypeProtoSchema, { value: { case: 'sequenceType', value } });
  model.graph.outputs.push(sequence);
  return model;
}

const feedOf = (set: string): Feed => ({
  inputs: [{ name: 'x', type: 'float', declared: [null, 2], dims: [1, 2], values: 'normal', below: 0 }],
  set,
  source: 'evaluation',
  samples: 999,
  seed: 0,
});

test('compares the outputs on all samples of a set, and counts all labels', async () => {
  const folder = await testFolder();
  const [file = ''] = saveModel(classifier(1, 0, 0, 1), folder);
  const set = join(folder, 'set.npz');
  const rows = 70;
  await writeNpz(set, {
    images: { type: 'float', dims: [rows, 2], values: new Float32Array(rows * 2).fill(1) },
    labels: { type: 'int64', dims: [rows], values: new BigInt64Array(rows).fill(5n) },
  });
  const path = join(folder, file);
  const { accuracy, data, outputs, notes, warnings } = await compareStage(
    { kind: 'compare', before: path, after: path, feed: feedOf(set) },
    { progress: () => {} },
  );
  expect(data.samples).toBe(70);
  expect(outputs[0]?.values).toBe(140);
  expect(accuracy?.samples).toBe(70);
  expect(notes).toEqual([
    'The evaluation set has no array "x", so its only array, "images", was used for that input.',
  ]);
  expect(warnings).toEqual([
    expect.stringContaining('70 of 70 labels, up to 5, are outside the 2 classes (0 to 1)'),
  ]);
});

test('refuses outputs that are not as they were asked for', async () => {
  const folder = await testFolder();
  const [file = ''] = saveModel(classifier(1, 0, 0, 1), folder);
  const set = join(folder, 'set.npz');
  await writeNpz(set, { x: { type: 'float', dims: [2, 2], values: new Float32Array(4) } });
  const path = join(folder, file);
  const feed = { ...feedOf(set), asked: { inputs: { x: [1, 2] }, outputs: { y: [8, 2] } } };
  await expect(
    compareStage({ kind: 'compare', before: path, after: path, feed }, { progress: () => {} }),
  ).rejects.toThrow('outputs: "y" is [1, 2] for each sample of the data set, but [8, 2] was requested');
});

test('says that a set answers with nothing but NaN', async () => {
  const folder = await testFolder();
  const [file = ''] = saveModel(classifier(1, 0, 0, 1), folder);
  const set = join(folder, 'set.npz');
  await writeNpz(set, { x: { type: 'float', dims: [2, 2], values: new Float32Array(4).fill(Number.NaN) } });
  const path = join(folder, file);
  const { outputs } = await compareStage(
    { kind: 'compare', before: path, after: path, feed: feedOf(set) },
    { progress: () => {} },
  );
  expect(outputs[0]).toMatchObject({ relative_l2_error: null, why: expect.stringContaining('only NaN') });
});

test('compares tensors over all samples, counts labels, and says what it cannot compare', async () => {
  const folder = await testFolder();
  const models = { before: classifier(1, 0, 0, 1), after: classifier(1, 0, 0, 0.5) };
  const paths = Object.entries(models).map(([name, model]) => {
    mkdirSync(join(folder, name));
    return [name, join(folder, name, saveModel(model, join(folder, name))[0] ?? '')];
  });
  const set = join(folder, 'set.npz');
  await writeNpz(set, {
    x: { type: 'float', dims: [3, 2], values: Float32Array.of(3, 0, 3, 4, 0, 0) },
    labels: { type: 'int64', dims: [3], values: BigInt64Array.of(0n, 1n, 0n) },
  });
  const feed = feedOf(set);
  const { before = '', after = '' } = Object.fromEntries(paths) as Record<string, string>;
  const { outputs, accuracy, data } = await compareStage(
    { kind: 'compare', before, after, feed },
    { progress: () => {} },
  );
  expect(outputs).toEqual([
    {
      name: 'y',
      relative_l2_error: expect.closeTo(2 / Math.sqrt(34), 12),
      largest_difference: 2,
      values: 6,
      why: null,
    },
    {
      name: 's',
      relative_l2_error: null,
      largest_difference: null,
      values: 0,
      why: 'is not a numeric tensor',
    },
  ]);
  expect(accuracy).toEqual({
    before: 1,
    after: 2 / 3,
    samples: 3,
    output: 'y',
    difference_interval: [expect.closeTo(-0.867, 3), expect.closeTo(0.2, 3)],
  });
  expect(data).toEqual({ source: 'evaluation', samples: 3, shapes: { x: [1, 2] } });
});

describe('a limit of what may be lost', () => {
  /** A model beside one that answers the second of two numbers wrongly, and a set of `rows` of which the last has a second. */
  async function apart(rows: number) {
    const folder = await testFolder();
    const models = { before: classifier(1, 0, 0, 1), after: classifier(1, 0, 0, 0.5) };
    const paths = Object.entries(models).map(([name, model]) => {
      mkdirSync(join(folder, name));
      return join(folder, name, saveModel(model, join(folder, name))[0] ?? '');
    });
    const values = Float32Array.from({ length: rows * 2 }, (_, at) => (at % 2 === 0 ? 1 : 0));
    values[rows * 2 - 1] = 20;
    const set = join(folder, 'set.npz');
    await writeNpz(set, { x: { type: 'float', dims: [rows, 2], values } });
    const [before = '', after = ''] = paths;
    return { kind: 'compare', before, after, feed: feedOf(set) } as const;
  }
  const limit = { of: 'loss', most: 0.1 } as const;

  test('is judged by the last sample as by the first', async () => {
    const { outputs, data } = await compareStage({ ...(await apart(300)), limit }, { progress: () => {} });
    expect(outputs[0]?.relative_l2_error).toBeCloseTo(10 / Math.sqrt(300 + 400), 6);
    expect(data.samples).toBe(300);
  });

  test('ends the comparison where no further samples could make up for what is lost', async () => {
    const { before, after, feed } = await apart(300);
    const x = Float32Array.from({ length: 600 }, () => 1);
    await writeNpz(feed.set ?? '', { x: { type: 'float', dims: [300, 2], values: x } });
    const { outputs, data } = await compareStage(
      { kind: 'compare', before, after, feed, limit: { ...limit, of: 'error' } },
      { progress: () => {} },
    );
    // Each sample loses 0.25 of its norm of 2, all of them may lose 0.01 of theirs.
    expect(data.samples).toBe(25);
    expect(outputs[0]?.relative_l2_error).toBeGreaterThan(limit.most);
  });

  test('of a set without labels is that of agreement', async () => {
    const { before, feed } = await apart(300);
    const folder = await testFolder();
    const after = join(folder, saveModel(classifier(0, 1, 1, 0), folder)[0] ?? '');
    const x = Float32Array.from({ length: 600 }, (_, at) => (at % 2 === 0 ? 1 : 0.9));
    await writeNpz(feed.set ?? '', { x: { type: 'float', dims: [300, 2], values: x } });
    const { agreement, data } = await compareStage(
      { kind: 'compare', before, after, feed, limit },
      { progress: () => {} },
    );
    // Each sample has the other class. 31 of 300 are more than 0.1, and 32 are the fewest that say so.
    expect(data.samples).toBe(32);
    expect(agreement).toMatchObject({ kind: 'classes', share: 0, choices: 32 });
  });

  test('ends that of vectors as soon as those of the model show how many neighbours are lost', async () => {
    const folder = await testFolder();
    const count = 128;
    // Pairs of neighbours. Each vector comes nearer to one of the next pair.
    const angle = (index: number) => 30 + 5 * Math.floor(index / 2) + (index % 2);
    const moved = (index: number) => angle(index) + 3 * (2 * (index % 2) - 1);
    const [before = '', after = ''] = [angle, moved].map((of, at) => {
      const rows = Array.from({ length: count }, (_, index) => (of(index) * Math.PI) / 180);
      const table = Float32Array.from(rows.flatMap((one) => [Math.cos(one), Math.sin(one)]));
      const model = smallModel({
        nodes: [makeNode('MatMul', ['x', 'table'], ['embedding'])],
        constants: [makeTensor('table', 'float', [count, 2], table)],
        inputs: { x: ['N', count] },
        outputs: { embedding: ['N', 2] },
      });
      mkdirSync(join(folder, `${at}`));
      return join(folder, `${at}`, saveModel(model, join(folder, `${at}`))[0] ?? '');
    });
    const set = join(folder, 'set.npz');
    const one = Float32Array.from({ length: count ** 2 }, (_, at) => (at % (count + 1) === 0 ? 1 : 0));
    await writeNpz(set, { x: { type: 'float', dims: [count, count], values: one } });
    const [input] = feedOf(set).inputs;
    if (input === undefined) throw new Error('the feed has no input');
    const feed = { ...feedOf(set), inputs: [{ ...input, declared: [null, count], dims: [1, count] }] };
    const task = { kind: 'compare', before, after, feed, limit: { of: 'loss', most: 0.01 } } as const;

    const { agreement, data, outputs } = await compareStage(task, { progress: () => {} });

    expect(outputs[0]?.relative_l2_error).toBeLessThan(0.1);
    expect(agreement).toMatchObject({ kind: 'neighbours', share: 0, choices: 64 });
    expect(data.samples).toBe(64);
  });
});
