import { describe, expect, test } from 'vitest';
import { raiseOpset } from '../../../../../shared/onnx/methods/opset/raise-opset.ts';
import type { AttributeValue } from '../../../../../shared/onnx/model/graph/attributes.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import type { NodeProto } from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { makeInt64s, makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { nonEmpty } from '../../../../support/non-empty.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const x = { dims: [2, 4, 6, 6], data: seededFloats(seededRandom(5), 288, 3) };
const one = (op: string, attributes: Record<string, AttributeValue>, ...others: string[]): NodeProto[] => [
  makeNode(op, ['x', ...others], ['y'], { name: 'old', attributes }),
];
const scales = makeTensor('scales', 'float', [4], Float32Array.of(1, 1, 2, 2));
const halves = makeTensor('halves', 'float', [4], Float32Array.of(1, 1, 0.5, 0.5));
const vector = (name: string, from: number) =>
  makeTensor(name, 'float', [4], Float32Array.of(from, from + 1, from + 2, from + 3));

/** Nodes that mean something else in later operator sets, with the constants that they take. */
const old: Record<string, { opset: number; nodes: NodeProto[]; constants?: Tensor[]; rank?: number }> = {
  'Clip with a least value': { opset: 10, nodes: one('Clip', { min: { float: -0.5 } }) },
  'Clip with a largest value alone': { opset: 7, nodes: one('Clip', { max: { float: 0.5 } }) },
  'Slice without axes': { opset: 9, nodes: one('Slice', { starts: [0, 1], ends: [2, 3] }) },
  'Slice along an axis': { opset: 9, nodes: one('Slice', { starts: [-4], ends: [1000], axes: [2] }) },
  'Pad of a value': { opset: 10, nodes: one('Pad', { pads: [0, 0, 1, 1, 0, 0, 2, 2], value: { float: 7 } }) },
  'Pad that reflects': {
    opset: 10,
    nodes: one('Pad', { mode: 'reflect', pads: [0, 0, 1, 1, 0, 0, 2, 2] }),
  },
  TopK: { opset: 9, nodes: [makeNode('TopK', ['x'], ['y', 'at'], { attributes: { k: 3, axis: 3 } })] },
  Dropout: { opset: 9, nodes: one('Dropout', { ratio: { float: 0.4 } }) },
  BatchNormalization: {
    opset: 8,
    nodes: one('BatchNormalization', { spatial: 1 }, 'a', 'b', 'c', 'd'),
    constants: [vector('a', 1), vector('b', 2), vector('c', 3), vector('d', 4)],
  },
  'Upsample by an attribute': {
    opset: 8,
    nodes: one('Upsample', { mode: 'nearest', scales: { floats: [1, 1, 2, 3] } }),
  },
  'Upsample by an input, between its points': {
    opset: 9,
    nodes: one('Upsample', { mode: 'linear' }, 'scales'),
    constants: [scales],
  },
  'Resize to a larger picture': {
    opset: 10,
    nodes: one('Resize', { mode: 'linear' }, 'scales'),
    constants: [scales],
  },
  'Resize to a smaller picture': {
    opset: 10,
    nodes: one('Resize', { mode: 'nearest' }, 'halves'),
    constants: [halves],
  },
  'Softmax over three axes': { opset: 11, nodes: one('Softmax', {}) },
  'Softmax over the last axis': { opset: 9, nodes: one('Softmax', { axis: 3 }) },
  'LogSoftmax over two axes': { opset: 12, nodes: one('LogSoftmax', { axis: 2 }) },
  'Hardmax over two axes': { opset: 11, nodes: one('Hardmax', { axis: -2 }) },
  ReduceSum: { opset: 11, nodes: one('ReduceSum', { axes: [1, -1], keepdims: 0 }) },
  'ReduceSum of all': { opset: 11, nodes: one('ReduceSum', {}) },
  'Unsqueeze and Squeeze': {
    opset: 11,
    nodes: [
      makeNode('Unsqueeze', ['x'], ['u'], { attributes: { axes: [0, 3] } }),
      makeNode('Squeeze', ['u'], ['y'], { attributes: { axes: [0] } }),
    ],
  },
  'Split into unequal parts': {
    opset: 11,
    nodes: [makeNode('Split', ['x'], ['a', 'y'], { attributes: { axis: 1, split: [1, 3] } })],
  },
  'Split into equal parts': {
    opset: 11,
    nodes: [makeNode('Split', ['x'], ['a', 'y'], { attributes: { axis: 1 } })],
  },
  Scatter: {
    opset: 10,
    nodes: [makeNode('Scatter', ['x', 'i', 'u'], ['y'], { attributes: { axis: 3 } })],
    constants: [
      makeTensor('i', 'int64', [1, 1, 1, 2], BigInt64Array.of(4n, 1n)),
      makeTensor('u', 'float', [1, 1, 1, 2], Float32Array.of(8, 9)),
    ],
  },
  RoiAlign: {
    opset: 10,
    nodes: one('RoiAlign', { output_height: 2, output_width: 2, sampling_ratio: 2 }, 'boxes', 'of'),
    constants: [
      makeTensor('boxes', 'float', [1, 4], Float32Array.of(0.3, 0.6, 4.2, 5.1)),
      makeInt64s('of', [1]),
    ],
  },
};

describe('a node of an old operator set answers the same in a later one', () => {
  test.each(Object.keys(old))('%s', async (name) => {
    const { opset = 7, nodes = [], constants = [] } = old[name] ?? {};
    const make = () =>
      copyOf(
        smallModel({
          ...{ nodes, constants, opset, inputs: { x: [2, 4, 6, 6] } },
          outputs: { y: Array.from({ length: outputRank(name) }, () => null) },
        }),
      );
    const before = await runSmall(make(), { x });
    const model = make();
    raiseOpset(model, 17);
    expect(model.opset()).toBe(17);
    const after = await runSmall(copyOf(model), { x });
    expect(after['y']?.dims).toEqual(before['y']?.dims);
    const expected = [...(before['y']?.data ?? [])];
    for (const [at, value] of nonEmpty<number | bigint>(after['y']?.data).entries())
      expect(value).toBeCloseTo(expected[at] ?? Number.NaN, 5);
  });
});

const outputRank = (name: string): number =>
  name === 'ReduceSum' ? 2 : name === 'Unsqueeze and Squeeze' ? 5 : 4;

test('what has no form in the later operator set is named', () => {
  const model = smallModel({
    nodes: [
      makeNode('BatchNormalization', ['x', 'a', 'a', 'a', 'a'], ['n'], {
        name: 'norm',
        attributes: { spatial: 0 },
      }),
      makeNode('Nonsense', ['n'], ['y'], { name: 'odd' }),
    ],
    constants: [vector('a', 1)],
    inputs: { x: [2, 4, 6, 6] },
    outputs: { y: [2, 4, 6, 6] },
    opset: 8,
  });
  expect(() => raiseOpset(model, 13)).toThrow(
    'The model\'s opset 8 cannot be raised to 13: Nonsense "odd" is not a published ONNX operator; BatchNormalization "norm" normalizes each position separately (spatial = 0).',
  );
});
