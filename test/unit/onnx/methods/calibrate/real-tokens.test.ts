import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calibrateStage } from '../../../../../shared/onnx/engine/stage/calibrate-stage.ts';
import type { FedTensor } from '../../../../../shared/onnx/measure/session/session.ts';
import type { Feed } from '../../../../../shared/onnx/measure/session/stage-task.ts';
import { collectStatistics } from '../../../../../shared/onnx/methods/calibrate/collect-statistics.ts';
import { maskName, realTokens } from '../../../../../shared/onnx/methods/calibrate/real-tokens.ts';
import { readStatistics } from '../../../../../shared/onnx/methods/calibrate/statistics-file.ts';
import { saveModel } from '../../../../../shared/onnx/model/file/save-model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';
import { testFolder } from '../../../../support/onnx/stage-program.ts';
import { writeNpz } from '../../../../support/onnx/write-npz.ts';

const ofMask = (mask: FedTensor) => realTokens({ feeds: new Map([[maskName, mask]]), labels: undefined });
const whole = (rows: number[], dims: number[]): FedTensor => ({
  ...{ type: 'int64', dims },
  values: BigInt64Array.from(rows, BigInt),
});

test('a mask of ones and zeros tells the rows of tokens, which may be flat, and of nothing else', () => {
  const tokens = ofMask(whole([1, 1, 0, 1, 0, 0], [2, 3]));
  expect(tokens?.rowsOf([2, 3, 8])).toEqual([1, 1, 0, 1, 0, 0]);
  expect(tokens?.rowsOf([6, 8])).toEqual([1, 1, 0, 1, 0, 0]);
  for (const dims of [[3, 2, 8], [2, 8], [2, 4, 3, 8], [6], [2, 3]])
    expect(tokens?.rowsOf(dims), `${dims}`).toBeUndefined();
});

test('masks that leave out nothing or everything, that count otherwise, or that are added to scores are not followed', () => {
  expect(ofMask(whole([1, 1], [1, 2]))).toBeUndefined();
  expect(ofMask(whole([0, 0], [1, 2]))).toBeUndefined();
  expect(ofMask(whole([1, 2, 0], [1, 3]))).toBeUndefined();
  expect(ofMask(whole([1, 0], [1, 1, 1, 2]))).toBeUndefined();
  expect(ofMask({ type: 'float', dims: [1, 2], values: Float32Array.of(0, 1) })).toBeUndefined();
  expect(ofMask({ type: 'bool', dims: [1, 2], values: Uint8Array.of(0, 1) })?.rowsOf([1, 2, 4])).toEqual([
    0, 1,
  ]);
  expect(realTokens({ feeds: new Map(), labels: undefined })).toBeUndefined();
});

/** y = relu(x·A)·B for tokens of two channels, with a mask that nothing reads; relu's two channels may be removed. */
function masked() {
  const model = smallModel({
    nodes: [
      makeNode('MatMul', ['x', 'a'], ['h'], { name: 'first' }),
      makeNode('Relu', ['h'], ['r']),
      makeNode('MatMul', ['r', 'b'], ['y'], { name: 'second' }),
    ],
    constants: [
      makeTensor('a', 'float', [2, 2], Float32Array.of(1, 0, 0, 1)),
      makeTensor('b', 'float', [2, 2], Float32Array.of(1, 2, 3, 4)),
    ],
    inputs: { x: [1, 3, 2] },
    outputs: { y: [1, 3, 2] },
  });
  model.graph.inputs.push(valueInfoOf({ name: maskName, type: 'int64', dims: [1, 3] }));
  return model;
}

/** Two samples: in the first the last token is padding, in the second the last two. */
async function withSet(folder: string): Promise<Feed> {
  const set = join(folder, 'set.npz');
  const x = Float32Array.of(1, 2, 3, 4, 50, 60, 5, 6, 70, 80, 90, 100);
  await writeNpz(set, {
    x: { type: 'float', dims: [2, 3, 2], values: x },
    [maskName]: { type: 'int64', dims: [2, 3], values: BigInt64Array.of(1n, 1n, 0n, 1n, 0n, 0n) },
  });
  const inputs: Feed['inputs'] = [
    { name: 'x', type: 'float', declared: [1, 3, 2], dims: [1, 3, 2], values: 'normal', below: 0 },
    { name: maskName, type: 'int64', declared: [1, 3], dims: [1, 3], values: 'one', below: 0 },
  ];
  return { inputs, set, source: 'calibration', samples: 2, seed: 0 };
}

test('statistics count the real tokens alone where padding is left out', async () => {
  const folder = await testFolder();
  const feed = await withSet(folder);
  const wanted = [{ name: 'r', axis: -1, channels: 2, hasMoment: true }];
  const found = async (leavesOutPadding: boolean) => {
    const out = join(folder, `${leavesOutPadding}`);
    mkdirSync(out);
    const data = { feed, folder: out, leavesOutPadding, progress: () => {} };
    const { padded } = await collectStatistics(masked(), wanted, data);
    const r = readStatistics(out).get('r');
    return { padded, rows: r?.rows, mean: [...(r?.mean ?? [])], moment: [...(r?.moment() ?? [])] };
  };
  expect(await found(true)).toEqual({
    ...{ padded: 2, rows: 3, mean: [3, 4] },
    moment: [35 / 3, 44 / 3, 44 / 3, 56 / 3],
  });
  expect(await found(false)).toMatchObject({ padded: 0, rows: 6, mean: [219 / 6, 252 / 6] });
});

test('prunings leave padding out, and say so; quantizations do not, since they compute it with the other tokens', async () => {
  const folder = await testFolder();
  const feed = await withSet(folder);
  const [file = ''] = saveModel(masked(), folder);
  const calibrated = async (request: Record<string, unknown>, name: string) => {
    const out = join(folder, name);
    const task = { kind: 'calibrate', model: join(folder, file), request, feed, out } as const;
    const { notes } = await calibrateStage(task, { progress: () => {} });
    return { notes, rows: readStatistics(out).get('r')?.rows };
  };
  const pruning = { operation: 'prune', strategy: 'structured_reconstruct', compression: 2 };
  expect(await calibrated(pruning, 'pruned')).toEqual({
    notes: [
      'Padding tokens, as marked by "attention_mask", were left out of calibration (2 samples have some).',
    ],
    rows: 3,
  });
  const quantization = { operation: 'quantize', strategy: 'gptq', precision: 4 };
  expect(await calibrated(quantization, 'quantized')).toEqual({ notes: [], rows: 6 });
});
