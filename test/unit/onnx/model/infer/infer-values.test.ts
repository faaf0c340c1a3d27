import { expect, test } from 'vitest';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { inferValues } from '../../../../../shared/onnx/model/infer/infer-values.ts';
import { makeInt64s, makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';

const floats = (name: string, dims: readonly number[]) =>
  makeTensor(name, 'float', dims, new Float32Array(dims.reduce((product, dim) => product * dim, 1)));

test('shapes that a model computes for itself are followed', () => {
  const model = smallModel({
    nodes: [
      makeNode('Conv', ['x', 'w'], ['c'], { attributes: { strides: [2, 2], pads: [1, 1, 1, 1] } }),
      makeNode('MaxPool', ['c'], ['p'], { attributes: { kernel_shape: [2, 2], strides: [2, 2] } }),
      makeNode('Shape', ['p'], ['s']),
      makeNode('Gather', ['s', 'zero'], ['batch']),
      makeNode('Concat', ['batch', 'rest'], ['to'], { attributes: { axis: 0 } }),
      makeNode('Reshape', ['p', 'to'], ['flat']),
      makeNode('Gemm', ['flat', 'head'], ['y'], { attributes: { transB: 1 } }),
    ],
    constants: [
      floats('w', [8, 3, 3, 3]),
      floats('head', [10, 128]),
      makeInt64s('zero', [0]),
      makeInt64s('rest', [-1]),
    ],
    inputs: { x: ['n', 3, 16, 16] },
    outputs: { y: ['n', 10] },
  });
  const values = inferValues(model);
  const dimsOf = (name: string) => values.get(name)?.dims;
  expect(dimsOf('c')).toEqual(['n', 8, 8, 8]);
  expect(dimsOf('p')).toEqual(['n', 8, 4, 4]);
  expect(values.get('to')?.elements).toEqual(['n', -1]);
  expect(dimsOf('flat')).toEqual(['n', 128]);
  expect(dimsOf('y')).toEqual(['n', 10]);
  expect(inferValues(model, new Map([['x', [2, 3, 16, 16]]])).get('flat')?.dims).toEqual([2, 128]);
});

test.each([
  [
    'MatMul',
    [
      ['b', 4, 5],
      [5, 6],
    ],
    {},
    ['b', 4, 6],
  ],
  [
    'Add',
    [
      ['b', 1, 5],
      [4, 1],
    ],
    {},
    ['b', 4, 5],
  ],
  ['Transpose', [['b', 4, 5]], { perm: [0, 2, 1] }, ['b', 5, 4]],
  ['Flatten', [['b', 4, 5]], { axis: 1 }, ['b', 20]],
  ['GlobalAveragePool', [['b', 4, 5, 5]], {}, ['b', 4, 1, 1]],
  ['Softmax', [['b', 4]], {}, ['b', 4]],
  [
    'Concat',
    [
      ['b', 4],
      ['b', 5],
    ],
    { axis: 1 },
    ['b', 9],
  ],
  ['ReduceMean', [['b', 4, 5]], { axes: [1], keepdims: 0 }, ['b', 5]],
  ['AveragePool', [[1, 2, 7, 7]], { kernel_shape: [3, 3], strides: [2, 2], ceil_mode: 1 }, [1, 2, 3, 3]],
  [
    'ConvTranspose',
    [
      [1, 4, 5, 5],
      [4, 2, 3, 3],
    ],
    { strides: [2, 2] },
    [1, 2, 11, 11],
  ],
] as const)('%s of %j', (op, shapes, attributes, dims) => {
  const names = shapes.map((_, at) => `x${at}`);
  const model = smallModel({
    nodes: [makeNode(op, names, ['y'], { attributes })],
    constants: [],
    inputs: Object.fromEntries(shapes.map((shape, at) => [`x${at}`, shape])),
    outputs: {},
  });
  expect(inferValues(model).get('y')?.dims).toEqual(dims);
});
