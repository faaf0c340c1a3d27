import { describe, expect, test } from 'vitest';
import { quantizeDynamic } from '../../../../../shared/onnx/methods/quantize/dynamic/quantize-dynamic.ts';
import { foldWeights } from '../../../../../shared/onnx/methods/quantize/fold-weights.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import type { NodeProto } from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { makeInt64s, makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const floats = (name: string, dims: readonly number[]) =>
  makeTensor(
    name,
    'float',
    dims,
    seededFloats(
      seededRandom(name.length),
      dims.reduce((a, b) => a * b, 1),
    ),
  );

/** A product of [2, 4] with the weight [4, 6] that nodes make of `a` and `b`, and whole numbers by name. */
const product = (
  nodes: readonly NodeProto[],
  dims: readonly number[],
  numbers: Readonly<Record<string, readonly number[]>>,
  opset: number,
) =>
  smallModel({
    nodes: [...nodes, makeNode('MatMul', ['x', 'w'], ['y'])],
    constants: [
      floats('a', dims),
      floats('b', dims),
      ...Object.entries(numbers).map(([name, values]) => makeInt64s(name, values)),
    ],
    inputs: { x: [2, 4] },
    outputs: { y: [2, 6] },
    opset,
  });

const x = { dims: [2, 4], data: Float32Array.of(1, -2, 3, 0.5, -1, 0.25, 2, 4) };

describe('a weight that nodes make of constants becomes a constant', () => {
  test.each([
    {
      by: 'Slice and Concat, as PyTorch orders gates',
      nodes: [
        makeNode('Slice', ['a', 'two', 'end', 'last'], ['a1']),
        makeNode('Slice', ['a', 'zero', 'two', 'last', 'one'], ['a2']),
        makeNode('Concat', ['a1', 'a2'], ['w'], { attributes: { axis: -1 } }),
      ],
      dims: [4, 6],
      numbers: { zero: [0], one: [1], two: [2], end: [2 ** 40], last: [-1] },
    },
    {
      by: 'Reshape, Transpose and Squeeze',
      nodes: [
        makeNode('Reshape', ['a', 'shape'], ['a1']),
        makeNode('Transpose', ['a1'], ['a2'], { attributes: { perm: [2, 1, 0] } }),
        makeNode('Squeeze', ['a2', 'axis'], ['w']),
      ],
      dims: [6, 4],
      numbers: { shape: [0, -1, 1], axis: [0] },
    },
    {
      by: 'Unsqueeze and Flatten of an old operator set',
      nodes: [
        makeNode('Unsqueeze', ['a'], ['a1'], { attributes: { axes: [0] } }),
        makeNode('Flatten', ['a1'], ['w'], { attributes: { axis: 2 } }),
      ],
      dims: [4, 3, 2],
      numbers: {},
      opset: 11,
    },
    {
      by: 'Concat of two constants along the first axis, through Identity',
      nodes: [
        makeNode('Concat', ['a', 'b'], ['a1'], { attributes: { axis: 0 } }),
        makeNode('Identity', ['a1'], ['w']),
      ],
      dims: [2, 6],
      numbers: {},
    },
    {
      by: 'Split, and a Gather of one matrix',
      nodes: [
        makeNode('Split', ['a', 'sizes'], ['a1', 'a2'], { attributes: { axis: 1 } }),
        makeNode('Gather', ['a2', 'last'], ['a3'], { attributes: { axis: 0 } }),
        makeNode('Flatten', ['a3'], ['w'], { attributes: { axis: 2 } }),
      ],
      dims: [3, 6, 6],
      numbers: { sizes: [2, 4], last: [-1] },
    },
    {
      by: 'Split into equal parts of an old operator set',
      nodes: [makeNode('Split', ['a'], ['a1', 'w'], { attributes: { axis: 1 } })],
      dims: [4, 12],
      numbers: {},
      opset: 11,
    },
  ])('by $by', async ({ nodes, dims, numbers, opset = 17 }) => {
    const made = () =>
      product(
        nodes.map((node) => structuredClone(node)),
        dims,
        numbers,
        opset,
      );
    const folded = made();

    foldWeights(folded.graph, []);

    expect(folded.graph.nodes.map(({ opType }) => opType)).toEqual(['MatMul']);
    expect(await runSmall(folded, { x })).toEqual(await runSmall(made(), { x }));
  });

  test.each([
    {
      by: 'weight normalization',
      nodes: [
        makeNode('ReduceL2', ['a'], ['norm'], { attributes: { axes: [0], keepdims: 1 } }),
        makeNode('Div', ['a', 'norm'], ['unit']),
        makeNode('Mul', ['b', 'unit'], ['w']),
      ],
      dims: [4, 6],
      numbers: {},
    },
    {
      by: 'a sum of squares and its root',
      nodes: [
        makeNode('Mul', ['a', 'a'], ['square']),
        makeNode('ReduceSum', ['square', 'axes'], ['sum'], { attributes: { keepdims: 0 } }),
        makeNode('Sqrt', ['sum'], ['root']),
        makeNode('Unsqueeze', ['root', 'axes'], ['norm']),
        makeNode('Div', ['a', 'norm'], ['w']),
      ],
      dims: [4, 6],
      numbers: { axes: [1] },
    },
  ])('computed by $by, to rounding', async ({ nodes, dims, numbers }) => {
    const made = () => product(structuredClone(nodes), dims, numbers, 17);
    const folded = made();

    foldWeights(folded.graph, []);

    expect(folded.graph.nodes.map(({ opType }) => opType)).toEqual(['MatMul']);
    const [after, before] = [await runSmall(folded, { x }), await runSmall(made(), { x })];
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(1e-6);
  });

  test.each([
    {
      by: 'a Slice that goes backwards',
      nodes: [makeNode('Slice', ['a', 'end', 'begin', 'axis', 'back'], ['w'])],
      numbers: { end: [3], begin: [-5], axis: [0], back: [-1] },
    },
    { by: 'a Sigmoid', nodes: [makeNode('Sigmoid', ['a'], ['w'])], numbers: {} },
  ])('but not by $by', ({ nodes, numbers }) => {
    const { graph } = product(nodes, [4, 6], numbers, 17);

    foldWeights(graph, []);

    expect(graph.nodes).toHaveLength(2);
  });

  test('once, where the same is done twice', () => {
    const twice = smallModel({
      nodes: [
        makeNode('Flatten', ['a'], ['v']),
        makeNode('Flatten', ['a'], ['w']),
        makeNode('MatMul', ['x', 'v'], ['y']),
        makeNode('MatMul', ['x', 'w'], ['z']),
      ],
      constants: [floats('a', [4, 3, 2])],
      inputs: { x: [2, 4] },
      outputs: { y: [2, 6], z: [2, 6] },
    });

    foldWeights(twice.graph, []);

    expect([...twice.graph.initializers.keys()]).toEqual(['v_folded']);
  });

  test('and not for a node that the request excludes', () => {
    const { graph } = product([makeNode('Flatten', ['a'], ['w'])], [4, 3, 2], {}, 17);

    foldWeights(graph, ['MatMul']);

    expect(graph.nodes).toHaveLength(2);
  });
});

describe('dynamic quantization', () => {
  const gates = (name: string, columns: number) => [
    makeNode('Slice', [name, 'from', 'to', 'zero'], [`${name}1`]),
    makeNode('Slice', [name, 'zero', 'from', 'zero'], [`${name}2`]),
    makeNode('Concat', [`${name}1`, `${name}2`], [`${name}3`], { attributes: { axis: 0 } }),
    makeNode('Unsqueeze', [`${name}3`, 'zero'], [`${name}${columns}`]),
  ];
  const recurrent = () =>
    smallModel({
      nodes: [
        ...gates('w', 6),
        ...gates('rr', 4),
        makeNode('LSTM', ['x', 'w6', 'rr4'], ['y'], { name: 'lstm', attributes: { hidden_size: 4 } }),
      ],
      constants: [
        floats('w', [16, 6]),
        floats('rr', [16, 4]),
        ...[makeInt64s('zero', [0]), makeInt64s('from', [4]), makeInt64s('to', [16])],
      ],
      inputs: { x: [5, 1, 6] },
      outputs: { y: [5, 1, 1, 4] },
    });

  test('takes an LSTM whose weights PyTorch has put into another order', async () => {
    const model = recurrent();
    const report = new TransformReport();
    const feed = { x: { dims: [5, 1, 6], data: seededFloats(seededRandom(3), 30) } };

    quantizeDynamic(model, dynamic, report);

    expect(copyOf(model).graph.nodes.map(({ opType }) => opType)).toEqual(['DynamicQuantizeLSTM']);
    const [after, before] = [await runSmall(model, feed), await runSmall(recurrent(), feed)];
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.05);
  });

  test('says what computes a weight that it must leave', () => {
    const model = product([makeNode('Sigmoid', ['a'], ['w'])], [4, 6], {}, 17);

    expect(() => quantizeDynamic(model, dynamic, new TransformReport())).toThrow(
      'y: its weight is computed by Sigmoid while the model runs',
    );
  });
});

const dynamic = {
  ...{ quant_type: 'int8' as const, per_channel: true, reduce_range: false, leaf_node: false },
  ...{ exclude: [], include: [], smooth_alpha: null, equalize: false, bias_correction: false },
};
