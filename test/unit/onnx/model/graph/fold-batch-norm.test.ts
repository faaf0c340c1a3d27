import { expect, test } from 'vitest';
import { foldBatchNorms } from '../../../../../shared/onnx/model/graph/fold-batch-norm.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const fed = { x: { dims: [1, 3, 6, 6], data: seededFloats(seededRandom(1), 108) } };

function make(extra: 'none' | 'second use') {
  const random = seededRandom(2);
  const positive = (count: number) => seededFloats(random, count).map((value) => Math.abs(value) + 0.1);
  return smallModel({
    nodes: [
      makeNode('Conv', ['x', 'w', 'b'], ['c'], { attributes: { pads: [1, 1, 1, 1] } }),
      makeNode('BatchNormalization', ['c', 's', 'o', 'm', 'v'], ['n'], {
        attributes: { epsilon: { float: 1e-3 } },
      }),
      extra === 'none' ? makeNode('Relu', ['n'], ['y']) : makeNode('Add', ['n', 'c'], ['y']),
    ],
    constants: [
      makeTensor('w', 'float', [4, 3, 3, 3], seededFloats(random, 108)),
      makeTensor('b', 'float', [4], seededFloats(random, 4)),
      makeTensor('s', 'float', [4], seededFloats(random, 4)),
      makeTensor('o', 'float', [4], seededFloats(random, 4)),
      makeTensor('m', 'float', [4], seededFloats(random, 4)),
      makeTensor('v', 'float', [4], positive(4)),
    ],
    inputs: { x: [1, 3, 6, 6] },
    outputs: { y: [1, 4, 6, 6] },
  });
}

test('a normalization behind a Conv goes into its weight and bias', async () => {
  const before = await runSmall(make('none'), fed);
  const model = make('none');
  expect(foldBatchNorms(model)).toBe(1);
  const after = await runSmall(copyOf(model), fed);
  expect(model.graph.nodes.map(({ opType }) => opType)).toEqual(['Conv', 'Relu']);
  expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(1e-6);
});

test('a Conv without a name is called by its first output before and after', () => {
  const model = make('none');
  foldBatchNorms(model);
  expect(model.graph.nodes[0]).toMatchObject({ name: 'c', output: ['n'] });
});

test('not where somebody else uses what the Conv made', () => {
  const model = make('second use');
  expect(foldBatchNorms(model)).toBe(0);
});
