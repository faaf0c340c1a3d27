import { create, fromBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { quantizeWeightOnly } from '../../../../../shared/onnx/methods/quantize/blocks/weight-only.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import {
  SparseTensorProtoSchema,
  TensorProtoSchema,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { ExternalData } from '../../../../../shared/onnx/model/tensor/external-data.ts';
import { readSparse } from '../../../../../shared/onnx/model/tensor/read-sparse.ts';
import { tensorMessage } from '../../../../../shared/onnx/model/tensor/read-tensor.ts';
import { makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import {
  copyOf,
  relativeError,
  runSmall,
  savedBytes,
  smallModel,
} from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const message = (tensor: Tensor) => fromBinary(TensorProtoSchema, tensorMessage(tensor));

const sparse = (dims: readonly number[], indexDims: readonly number[], places: readonly number[]) =>
  readSparse(
    create(SparseTensorProtoSchema, {
      values: message(makeTensor('w', 'float', [2], Float32Array.of(5, -7))),
      indices: message(makeTensor('i', 'int64', indexDims, BigInt64Array.from(places, BigInt))),
      dims: dims.map(BigInt),
    }),
    new ExternalData('.'),
  );

describe('a sparse constant', () => {
  test.each([
    ['positions', [2], [1, 4]],
    ['an index for each axis', [2, 2], [0, 1, 1, 1]],
  ])('has its values and zeros, by %s', (_, indexDims, places) => {
    const tensor = sparse([2, 3], indexDims, places);

    expect([tensor.name, tensor.dims, [...floatsOf(tensor)]]).toEqual(['w', [2, 3], [0, 5, 0, 0, -7, 0]]);
  });

  test('keeps its form in a saved model while no method changes it', async () => {
    const size = 64;
    const model = () => {
      const made = smallModel({
        nodes: [makeNode('Add', ['x', 'w'], ['a']), makeNode('MatMul', ['a', 'm'], ['y'])],
        constants: [makeTensor('m', 'float', [size, size], seededFloats(seededRandom(1), size * size))],
        inputs: { x: [size, size] },
        outputs: { y: [size, size] },
      });
      made.graph.put(sparse([size, size], [2], [1, 4]));
      return made;
    };
    const quantized = model();
    const feeds = { x: { dims: [size, size], data: seededFloats(seededRandom(2), size * size) } };

    quantizeWeightOnly(quantized, { precision: 8, quant_type: 'int8', exclude: [] }, new TransformReport());

    expect(savedBytes(model()).length).toBeLessThan(size * size * 4 + 1000);
    expect(savedBytes(quantized).length).toBeLessThan(size * size * 1.6);
    const [before, after] = [await runSmall(model(), feeds), await runSmall(copyOf(quantized), feeds)];
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.02);
  });

  test.each([
    [[2, 3], [2], [1, 6], 'an index beyond its dimensions'],
    [[2, 3], [2, 2], [0, 3, 1, 1], 'an index beyond its dimensions'],
    [[2, 3], [3], [0, 1, 2], 'has other indices'],
    [[2 ** 20, 2 ** 20], [2], [0, 1], 'impossible dimensions'],
    [[2 ** 16, 2 ** 8], [2], [0, 1], 'more than 1000 times as many values with its zeros'],
  ])('of %j with indices %j %j is refused', (dims, indexDims, places, fault) => {
    expect(() => sparse(dims, indexDims, places)).toThrow(fault);
  });
});
