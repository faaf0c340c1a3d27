import { expect, test } from 'vitest';
import { applyStrategy } from '../../../../../shared/onnx/methods/apply/apply-strategy.ts';
import { parseRequest } from '../../../../../shared/onnx/methods/apply/parse-request.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const size = 32;

test.each([
  { strategy: 'dynamic', precision: 8 },
  { strategy: 'static_minmax', precision: 8 },
  { strategy: 'weight_only', precision: 4 },
])('$strategy leaves a weight in float that is an output as well, and its product', (changes) => {
  const weight = (name: string) =>
    makeTensor(name, 'float', [size, size], seededFloats(seededRandom(1), size * size));
  const model = smallModel({
    nodes: [
      makeNode('MatMul', ['x', 'shown'], ['a'], { name: 'first' }),
      makeNode('Identity', ['shown'], ['w']),
      makeNode('MatMul', ['a', 'own'], ['b'], { name: 'second' }),
      makeNode('Transpose', ['listed'], ['turned'], { attributes: { perm: [1, 0] } }),
      makeNode('MatMul', ['b', 'turned'], ['y'], { name: 'third' }),
    ],
    constants: ['shown', 'own', 'listed'].map(weight),
    inputs: { x: [1, size] },
    outputs: { y: [1, size], w: [size, size], listed: [size, size] },
  });
  const report = new TransformReport();
  const range = { min: -1, max: 1 };
  const ranges = new Map(['x', 'a', 'b', 'y'].map((name) => [name, range] as const));
  const observed = { ranges, statistics: new Map() };

  applyStrategy({ model, report, observed }, parseRequest({ operation: 'quantize', ...changes }));

  expect(report.layers.map(({ weight: name }) => name)).toEqual(['own']);
  expect(model.graph.nodes.filter(({ name }) => name === 'first').map(({ opType }) => opType)).toEqual([
    'MatMul',
  ]);
});
