import { intAttribute } from '../../model/graph/attributes.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount, type Tensor } from '../../model/tensor/tensor.ts';

/**
 * How a layer reads its weight: as `outer` × `reduction` × `inner` values, summed along `reduction`. In a Conv,
 * `outer` are the output channels and `inner` the kernel positions. In a matrix product, each pair of an outer and
 * an inner place is an output channel.
 */
export interface WeightLayout {
  outer: number;
  reduction: number;
  inner: number;
  isInnerChannel: boolean;
}

/** Return the number of output channels of a weight. */
export const channelsOf = ({ outer, inner, isInnerChannel }: WeightLayout): number =>
  outer * (isInnerChannel ? inner : 1);

export const sameLayout = (a: WeightLayout, b: WeightLayout): boolean =>
  a.outer === b.outer && a.reduction === b.reduction && a.isInnerChannel === b.isInnerChannel;

/**
 * Return the layout of a node's constant at `position` if it is the weight of a Conv, Gemm or MatMul. Undefined
 * for all other inputs and operators.
 */
export function layoutOf(node: NodeProto, position: number, { dims }: Tensor): WeightLayout | undefined {
  if (node.domain !== '' || elementCount(dims) === 0) return undefined;
  const [first = 1, second = 1] = dims;
  switch (node.opType) {
    case 'Conv':
      if (position !== 1 || dims.length < 3) return undefined;
      return { outer: first, reduction: second, inner: elementCount(dims.slice(2)), isInnerChannel: false };
    case 'Gemm': {
      if (position > 1 || dims.length !== 2) return undefined;
      const isTransposed = intAttribute(node, position === 0 ? 'transA' : 'transB', 0) !== 0;
      return matrixLayout(dims, (position === 0) !== isTransposed);
    }
    case 'MatMul':
      return dims.length < 2 ? undefined : matrixLayout(dims, position === 0);
    default:
      return undefined;
  }
}

function matrixLayout(dims: readonly number[], isReductionLast: boolean): WeightLayout {
  const [rows = 1, columns = 1] = dims.slice(-2);
  const batch = elementCount(dims.slice(0, -2));
  return isReductionLast
    ? { outer: batch * rows, reduction: columns, inner: 1, isInnerChannel: true }
    : { outer: batch, reduction: rows, inner: columns, isInnerChannel: true };
}
