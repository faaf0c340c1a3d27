import type { Names } from '../../model/graph/names.ts';
import { nodeName } from '../../model/graph/node-names.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount, lazyTensor, makeTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { float32Source } from '../../model/tensor/values.ts';
import type { LayerChange, TransformReport } from '../report/report.ts';
import type { OwnedConstant } from './constant-owner.ts';
import { quantize, type Scales } from './quantized-values.ts';
import { swappedBytes, swappedDims } from './transpose.ts';

/** Names of the constants that a weight has become. */
export interface QuantizedNames {
  weight: string;
  scale: string;
  zeroPoint: string;
}

/** Shapes of a quantized weight. */
export interface QuantizedShape {
  /** Other dimensions of the weight, with as many elements, to which the axis of its channels refers. */
  viewed?: readonly number[];
  /** Whether the last two dimensions are swapped in the quantized weight. */
  swapped?: boolean;
  /** Dimensions of scales and zero points; by default a vector, or a scalar for one scale. */
  scaleDims?: readonly number[];
}

/** Whether a constant can be quantized: float32, with at least one element. */
export const isQuantizable = ({ type, dims }: Tensor): boolean => type === 'float' && elementCount(dims) > 0;

/** A constant to be quantized, and what is known of it. */
export interface QuantizedConstant {
  constant: OwnedConstant;
  by: Scales;
  /** The node that it is reported for. */
  node: NodeProto;
  shape?: QuantizedShape;
}

/**
 * Adds a constant's quantized form beside it. It is computed when it is written, so that no weight stays in memory;
 * from then on the report has its error.
 */
export function putQuantized(
  names: Names,
  report: TransformReport,
  { constant: { tensor, owner }, by, node, shape: { viewed, swapped, scaleDims } = {} }: QuantizedConstant,
): QuantizedNames {
  const { name, dims } = tensor;
  const parameters = elementCount(dims);
  const layer: LayerChange = {
    layer: nodeName(node),
    operator: node.opType,
    weight: name,
    parameters_before: parameters,
    parameters_after: parameters,
    nonzero_before: null,
    nonzero_after: null,
    error: null,
  };
  report.layers.push(layer);
  const made = {
    weight: names.make(`${name}_quantized`),
    scale: names.make(`${name}_scale`),
    zeroPoint: names.make(`${name}_zero_point`),
  };
  owner.put(
    lazyTensor(made.weight, by.type, swapped ? swappedDims(dims) : dims, () => {
      const { levels, error, nonzeroBefore, nonzeroAfter } = quantize(
        float32Source(tensor),
        viewed ?? dims,
        by,
      );
      Object.assign(layer, { error, nonzero_before: nonzeroBefore, nonzero_after: nonzeroAfter });
      const bytes = new Uint8Array(levels.buffer);
      return swapped ? swappedBytes(bytes, dims) : bytes;
    }),
  );
  const shape = scaleDims ?? (by.axis === undefined ? [] : [by.scales.length]);
  owner.put(makeTensor(made.scale, 'float', shape, by.scales));
  owner.put(makeTensor(made.zeroPoint, by.type, shape, by.zeroPoints));
  return made;
}
