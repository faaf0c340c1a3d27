import { expect, test } from 'vitest';
import { fuseGraph } from '../../../../../shared/onnx/methods/fuse/fuse-graph.ts';
import { raiseOpset } from '../../../../../shared/onnx/methods/opset/raise-opset.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { elementCount, makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { maskedEncoder } from '../../../../support/onnx/masked-encoder.ts';
import { convolutional, transformer } from '../../../../support/onnx/quantizable-networks.ts';
import { randomTransformer } from '../../../../support/onnx/random-transformer.ts';
import type { Floats } from '../../../../support/onnx/run-optimized.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const fed = (dims: readonly number[], seed = 9): Floats => ({
  dims,
  data: seededFloats(seededRandom(seed), elementCount(dims)),
});

/** Fuses a copy, checks that it computes the same, and returns its operators. */
async function fused(
  original: Model,
  feeds: Readonly<Record<string, Floats>>,
  exclude: readonly string[] = [],
): Promise<string[]> {
  const model = copyOf(original);
  raiseOpset(model, 17);
  fuseGraph(model, exclude, new TransformReport());
  const saved = copyOf(model);
  const [is, was] = [await runSmall(saved, feeds), await runSmall(original, feeds)];
  for (const [name, { data, dims }] of Object.entries(was)) {
    expect(is[name]?.dims).toEqual(dims);
    expect(relativeError(is[name]?.data ?? [], data)).toBeLessThan(2e-6);
  }
  return saved.graph.nodes.map(({ opType }) => opType);
}

test.each([11, 13, 17])('an encoder with a mask, as exporters of opset %i write it', async (opset) => {
  const model = maskedEncoder(opset);
  const mask = { dims: [2, 5], data: Float32Array.of(1, 1, 1, 0, 0, 1, 1, 1, 1, 1) };
  expect(await fused(model, { x: fed([2, 5, 16]), mask })).toEqual([
    ...['Unsqueeze', 'Sub', 'Mul', 'Shape', 'Gather', 'Concat', 'Expand'],
    ...[
      'Attention',
      'MatMul',
      'SkipLayerNormalization',
      'MatMul',
      'BiasGelu',
      'MatMul',
      'SkipLayerNormalization',
    ],
    ...[
      'Attention',
      'MatMul',
      'SkipLayerNormalization',
      'MatMul',
      'BiasGelu',
      'MatMul',
      'SkipLayerNormalization',
    ],
  ]);
});

test('a mask of whole numbers is taken as it is', async () => {
  const mask = { dims: [2, 5], data: Float32Array.of(1, 1, 1, 0, 0, 1, 1, 1, 1, 1) };
  const feeds = { x: fed([2, 5, 16]), mask };
  const operators = await fused(maskedEncoder(17, { layers: 1, isCounted: true }), feeds);
  expect(operators.slice(0, 4)).toEqual(['Cast', 'Cast', 'Attention', 'MatMul']);
});

test('what is excluded is part of no pattern', async () => {
  const feeds = { x: fed([2, 5, 16]), mask: fed([2, 5]) };
  const operators = await fused(maskedEncoder(17), feeds, ['Erf', 'softmax_0']);
  expect(operators.filter((name) => name === 'Attention')).toHaveLength(1);
  expect(operators.filter((name) => name === 'Softmax' || name === 'Erf')).toHaveLength(3);
  expect(operators).not.toContain('BiasGelu');
});

test('keys and values of one product, and a sum that others use, are kept', async () => {
  const operators = await fused(transformer(17), { x: fed([3, 4, 16]) });
  expect(operators).toContain('MultiHeadAttention');
  expect(operators).not.toContain('Softmax');
  expect(operators).toContain('SkipLayerNormalization');
});

test('attention in every way in which its shapes are written computes the same', async () => {
  let found = 0;
  for (let seed = 1; seed <= 16; seed += 1) {
    const operators = await fused(randomTransformer(seed), { x: fed([2, 5, 16], seed) });
    found += operators.filter((name) => name === 'Attention' || name === 'MultiHeadAttention').length;
  }
  expect(found).toBeGreaterThan(8);
});

test('BatchNormalization is folded, shapes and constants are computed', async () => {
  expect(await fused(convolutional(13), { x: fed([2, 8, 6, 6]) })).not.toContain('BatchNormalization');
  const model = smallModel({
    nodes: [
      makeNode('Sqrt', ['four'], ['two']),
      makeNode('Div', ['row', 'two'], ['half']),
      makeNode('Mul', ['half', 'column'], ['table']),
      makeNode('Add', ['x', 'table'], ['y']),
    ],
    constants: [
      makeTensor('four', 'float', [], Float32Array.of(4)),
      makeTensor('row', 'float', [3], Float32Array.of(1, 2, 3)),
      makeTensor('column', 'float', [2, 1], Float32Array.of(5, 7)),
    ],
    inputs: { x: [2, 3] },
    outputs: { y: [2, 3] },
  });
  expect(await fused(model, { x: fed([2, 3]) })).toEqual(['Add']);
});

test('Gelu by its tangent becomes FastGelu with its bias', async () => {
  const number = (name: string, value: number) => makeTensor(name, 'float', [], Float32Array.of(value));
  const model = smallModel({
    nodes: [
      makeNode('Add', ['x', 'b'], ['v']),
      makeNode('Mul', ['v', 'v'], ['v2']),
      makeNode('Mul', ['v2', 'v'], ['v3']),
      makeNode('Mul', ['v3', 'c'], ['s']),
      makeNode('Add', ['v', 's'], ['t']),
      makeNode('Mul', ['t', 'root'], ['u']),
      makeNode('Tanh', ['u'], ['h']),
      makeNode('Add', ['h', 'one'], ['g']),
      makeNode('Mul', ['v', 'half'], ['w']),
      makeNode('Mul', ['w', 'g'], ['y']),
    ],
    constants: [
      ...[
        number('c', 0.044715),
        number('root', Math.sqrt(2 / Math.PI)),
        number('one', 1),
        number('half', 0.5),
      ],
      makeTensor('b', 'float', [8], seededFloats(seededRandom(2), 8)),
    ],
    inputs: { x: [2, 3, 8] },
    outputs: { y: [2, 3, 8] },
  });
  expect(await fused(model, { x: fed([2, 3, 8]) })).toEqual(['FastGelu']);
});
