import { expect, test } from 'vitest';
import { applyStrategy } from '../../../../../shared/onnx/methods/apply/apply-strategy.ts';
import { parseRequest } from '../../../../../shared/onnx/methods/apply/parse-request.ts';
import { readObservations } from '../../../../../shared/onnx/methods/calibrate/observations.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeInt64s, makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, runSmall, savedBytes, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const random = seededRandom(3);
const weight = (name: string, dims: readonly number[]) =>
  makeTensor(
    name,
    'float',
    dims,
    seededFloats(
      random,
      dims.reduce((all, dim) => all * dim, 1),
    ),
  );

/** A constant of 64 × 256 that nodes make of its shape and of other constants, times the input. */
const computed = () =>
  smallModel({
    nodes: [
      makeNode('ConstantOfShape', ['shape'], ['ones'], {
        attributes: { value: { tensor: makeTensor('', 'float', [1], Float32Array.of(1)) } },
      }),
      makeNode('CumSum', ['ones', 'axis'], ['steps']),
      makeNode('Add', ['column', 'row'], ['sums']),
      makeNode('Add', ['steps', 'sums'], ['k']),
      makeNode('Mul', ['x', 'k'], ['y']),
    ],
    constants: [
      makeInt64s('shape', [64, 256]),
      makeTensor('axis', 'int64', [], BigInt64Array.of(1n)),
      weight('column', [64, 1]),
      weight('row', [1, 256]),
    ],
    inputs: { x: [64, 256] },
    outputs: { y: [64, 256] },
  });

/** The same weight in three layers, by its name and by those of two Identity. */
const shared = () =>
  smallModel({
    nodes: [
      makeNode('Identity', ['w'], ['w2']),
      makeNode('Identity', ['w'], ['w3']),
      makeNode('MatMul', ['x', 'w'], ['a']),
      makeNode('MatMul', ['a', 'w2'], ['b']),
      makeNode('MatMul', ['b', 'w3'], ['y']),
    ],
    constants: [weight('w', [64, 64])],
    inputs: { x: [2, 64] },
    outputs: { y: [2, 64] },
  });

const methods = [
  { operation: 'prune', strategy: 'optimize', compression: 1 },
  { operation: 'quantize', strategy: 'float16', precision: 16 },
];

for (const [what, make] of Object.entries({ 'computes constants': computed, 'shares a weight': shared }))
  for (const method of methods)
    test(`${method.strategy} writes no larger file of a model that ${what}`, () => {
      const source = savedBytes(make()).length;
      const model = copyOf(make());
      applyStrategy(
        { model, report: new TransformReport(), observed: readObservations(null) },
        parseRequest(method),
      );
      expect(savedBytes(model).length).toBeLessThan(source + 200);
    });

test('a constant that a node makes of its shape is made so in the saved model, and answers the same', async () => {
  const x = seededFloats(random, 64 * 256);
  const feeds = { x: { dims: [64, 256], data: x } };
  const model = computed();
  const { y: before } = await runSmall(model, feeds);
  const { y: after } = await runSmall(copyOf(model), feeds);
  expect(after?.data).toEqual(before?.data);
});

test('a constant that takes less room than what it is computed from is stored', () => {
  const model = smallModel({
    nodes: [makeNode('Mul', ['a', 'b'], ['k']), makeNode('Mul', ['x', 'k'], ['y'])],
    constants: [weight('a', [64]), weight('b', [64])],
    inputs: { x: [2, 64] },
    outputs: { y: [2, 64] },
  });
  const request = parseRequest({ operation: 'prune', strategy: 'optimize', compression: 1 });
  applyStrategy({ model, report: new TransformReport(), observed: readObservations(null) }, request);
  expect(model.graph.nodes.map(({ opType }) => opType)).toEqual(['Mul']);
  expect([...model.graph.initializers.keys()]).toEqual(['k']);
});
