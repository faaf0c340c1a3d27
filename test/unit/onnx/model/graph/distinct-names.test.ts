import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { quantizeWeightOnly } from '../../../../../shared/onnx/methods/quantize/blocks/weight-only.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  GraphProtoSchema,
  type NodeProto,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { tensorMessage } from '../../../../../shared/onnx/model/tensor/read-tensor.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import {
  copyOf,
  relativeError,
  runSmall,
  savedBytes,
  smallModel,
} from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const size = 32;

/** A branch with its own weight `w` and its own value `k`. */
function branch(name: string, seed: number, nodes: readonly NodeProto[]) {
  const weight = makeTensor('w', 'float', [size, size], seededFloats(seededRandom(seed), size * size));
  const g = create(GraphProtoSchema, {
    name,
    node: [...nodes],
    output: [valueInfoOf({ name: 'o', type: 'float', dims: [1, size] })],
    initializer: [tensorMessage(weight)],
  });
  return create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.GRAPH, g });
}

/** A positive sum takes the first branch. In it `k` is a product, and in the other one a weight. */
function branches() {
  const choice = makeNode('If', ['positive'], ['y']);
  choice.attribute.push(
    branch('then_branch', 1, [makeNode('MatMul', ['x', 'w'], ['k']), makeNode('Relu', ['k'], ['o'])]),
    branch('else_branch', 2, [makeNode('Identity', ['w'], ['k']), makeNode('MatMul', ['x', 'k'], ['o'])]),
  );
  return smallModel({
    nodes: [
      makeNode('ReduceSum', ['x'], ['sum'], { attributes: { keepdims: 0 } }),
      makeNode('Greater', ['sum', 'zero'], ['positive']),
      choice,
    ],
    constants: [makeTensor('zero', 'float', [], new Float32Array(1))],
    inputs: { x: [1, size] },
    outputs: { y: [1, size] },
  });
}

test('a model does not grow by the names of its branches', () => {
  expect(savedBytes(copyOf(branches())).length).toBeLessThanOrEqual(savedBytes(branches()).length);
});

test.each([
  ['first', 1],
  ['second', -1],
])('the %s of two branches with the same names keeps its own weights in blocks', async (_, sign) => {
  const data = seededFloats(seededRandom(3), size).map((value) => sign * Math.abs(value));
  const x = { x: { dims: [1, size], data } };
  const before = await runSmall(branches(), x);
  const model = copyOf(branches());

  quantizeWeightOnly(model, { precision: 8, quant_type: 'int8', exclude: [] }, new TransformReport());

  const after = await runSmall(model, x);
  expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.02);
});
