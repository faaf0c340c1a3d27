import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ModelError } from '../model-error.ts';
import { type SparseTensorProto, SparseTensorProtoSchema, TensorProtoSchema } from '../proto/onnx_pb.js';
import { bitsOf } from './data-type.ts';
import type { ExternalData } from './external-data.ts';
import { readTensor, tensorMessage } from './read-tensor.ts';
import { elementCount, lazyTensor, type Tensor } from './tensor.ts';

/** Limit on the bytes of a constant with its zeros, as a multiple of the bytes of its values. */
const mostFilled = 1000;

/** Most bytes of a sparse constant with its zeros. Same as the limit of a model file. */
const maxBytes = 2 ** 31 - 1;

/**
 * Return a sparse constant with its zeros. Its places are positions in row-major order, or one index for each axis.
 *
 * @throws ModelError if values, places and dimensions do not match
 */
export function readSparse(
  { values, indices, dims: declared }: SparseTensorProto,
  external: ExternalData,
): Tensor {
  const read = (message: NonNullable<SparseTensorProto['values']>): Tensor =>
    readTensor(toBinary(TensorProtoSchema, message), external);
  if (values === undefined) throw new ModelError('A sparse constant of the model has no values.');
  const stored = read(values);
  const fault = (text: string) =>
    new ModelError(`The sparse constant ${JSON.stringify(stored.name)} ${text}.`);
  const dims = declared.map(Number);
  const count = elementCount(dims);
  const width = bitsOf(stored.type) / 8;
  if (!Number.isInteger(width) || width === 0)
    throw fault(`is of type ${stored.type}, which has no sparse form`);
  if (dims.some((dim) => !Number.isSafeInteger(dim) || dim < 0) || !(count * width <= maxBytes))
    throw fault(`has impossible dimensions [${dims.join(', ')}]`);
  // The zeros are written, too: a small file must not become a large one.
  if (count * width > Math.max(2 ** 16, mostFilled * width * elementCount(stored.dims)))
    throw fault(`has more than ${mostFilled} times as many values with its zeros as without`);
  const places = indices === undefined ? undefined : read(indices);
  const [found = 0, axes] = places?.dims ?? [];
  const isByAxis = places?.dims.length === 2 && axes === dims.length;
  if (
    places?.type !== 'int64' ||
    found !== elementCount(stored.dims) ||
    !(places.dims.length === 1 || isByAxis)
  )
    throw fault('has other indices than one position, or one index for each axis, for each value');
  const positions = (): Float64Array => positionsOf(places, dims, isByAxis);
  if (positions().some((position) => !(position >= 0 && position < count)))
    throw fault('has an index beyond its dimensions');
  const filled = lazyTensor(stored.name, stored.type, dims, () => {
    const bytes = new Uint8Array(count * width);
    const from = stored.bytes();
    for (const [at, position] of positions().entries())
      bytes.set(from.subarray(at * width, (at + 1) * width), position * width);
    return bytes;
  });
  return { ...filled, sparse: { values: stored, places, dims } };
}

/** Whether a constant was read from a sparse form that is smaller than all its values. */
export function isSparse({ dims, byteLength, sparse }: Tensor): boolean {
  if (sparse === undefined || sparse.dims.join() !== dims.join()) return false;
  return sparse.values.byteLength + sparse.places.byteLength < byteLength;
}

/** Return the sparse form that a constant was read from, without a name. */
export function sparseMessage({ dims, sparse }: Tensor): SparseTensorProto {
  const message = (tensor: Tensor | undefined) =>
    tensor && fromBinary(TensorProtoSchema, tensorMessage({ ...tensor, name: '' }));
  return create(SparseTensorProtoSchema, {
    ...{ values: message(sparse?.values), indices: message(sparse?.places) },
    dims: dims.map(BigInt),
  });
}

/** Return the positions of values in row-major order. An index beyond its axis has none: NaN. */
function positionsOf(places: Tensor, dims: readonly number[], isByAxis: boolean): Float64Array {
  const numbers = Float64Array.from(new BigInt64Array(new Uint8Array(places.bytes()).buffer), Number);
  if (!isByAxis) return numbers;
  return Float64Array.from({ length: places.dims[0] ?? 0 }, (_, at) =>
    dims.reduce((position, dim, axis) => {
      const index = numbers[at * dims.length + axis] ?? -1;
      return index < 0 || index >= dim ? Number.NaN : position * dim + index;
    }, 0),
  );
}
