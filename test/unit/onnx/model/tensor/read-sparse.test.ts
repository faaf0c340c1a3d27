import { create, fromBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import {
  SparseTensorProtoSchema,
  TensorProtoSchema,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { ExternalData } from '../../../../../shared/onnx/model/tensor/external-data.ts';
import { readSparse } from '../../../../../shared/onnx/model/tensor/read-sparse.ts';
import { tensorMessage } from '../../../../../shared/onnx/model/tensor/read-tensor.ts';
import { makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';

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
