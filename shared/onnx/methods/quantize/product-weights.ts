import { floatAttribute, intAttribute } from '../../model/graph/attributes.ts';
import type { Graph } from '../../model/graph/graph.ts';
import { isExcluded } from '../../model/graph/graph.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount, lazyTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';
import { isQuantizable } from './weight-store.ts';

/** A product with a constant matrix, and the axis of the matrix for the input channels. */
export interface ProductWeight {
  node: NodeProto;
  tensor: Tensor;
  inputAxis: 0 | 1;
}

/** Return the number of input channels (`inputsOf`) or output channels (`outputsOf`) of a product. */
export const inputsOf = ({ tensor, inputAxis }: ProductWeight): number => tensor.dims[inputAxis] ?? 0;
export const outputsOf = ({ tensor, inputAxis }: ProductWeight): number => tensor.dims[1 - inputAxis] ?? 0;

/** Input position of a weight. */
export const weightAt = 1;

/**
 * Return the two-dimensional weight of a MatMul or Gemm, if it is a float32 constant of its graph or an outer one. A
 * Gemm must not transpose or scale its input.
 */
export function productWeight(
  graph: Graph,
  node: NodeProto,
  exclude: readonly string[],
): ProductWeight | undefined {
  if (node.domain !== '') return undefined;
  if (node.opType !== 'MatMul' && node.opType !== 'Gemm') return undefined;
  if (isExcluded(node, exclude)) return undefined;
  const tensor = graph.initializer(node.input[weightAt] ?? '');
  if (tensor === undefined || !isQuantizable(tensor) || tensor.dims.length !== 2) return undefined;
  const isGemm = node.opType === 'Gemm';
  if (isGemm && (intAttribute(node, 'transA', 0) !== 0 || floatAttribute(node, 'alpha', 1) !== 1))
    return undefined;
  return { node, tensor, inputAxis: isGemm && intAttribute(node, 'transB', 0) !== 0 ? 1 : 0 };
}

/** Return the largest magnitude of a weight's values for each channel of its input. */
export function largestByInput({ tensor, inputAxis }: ProductWeight): Float64Array {
  const values = floatsOf(tensor);
  const [rows = 0, columns = 0] = tensor.dims;
  const largest = new Float64Array(inputAxis === 0 ? rows : columns);
  for (let row = 0, at = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1, at += 1) {
      const input = inputAxis === 0 ? row : column;
      const magnitude = Math.abs(values[at] ?? 0);
      if (magnitude > (largest[input] ?? 0)) largest[input] = magnitude;
    }
  }
  return largest;
}

/**
 * Return a constant with a factor for each channel along an axis. The factors are applied when the constant is
 * read: in double precision, stored as float32.
 */
export function scaledAlong(tensor: Tensor, name: string, axis: number, factors: ArrayLike<number>): Tensor {
  const inner = elementCount(tensor.dims.slice(axis + 1));
  return lazyTensor(name, 'float', tensor.dims, () => {
    const scaled = Float32Array.from(floatsOf(tensor));
    for (let at = 0; at < scaled.length; at += 1) {
      scaled[at] = (scaled[at] ?? 0) * (factors[Math.floor(at / inner) % factors.length] ?? 1);
    }
    return new Uint8Array(scaled.buffer);
  });
}
