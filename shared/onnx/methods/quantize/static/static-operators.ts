import type { Model } from '../../../model/file/model.ts';
import { isExcluded, nodeName } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { QuantizeRequest } from '../../../strategies/quantize-request.ts';

/** Options of the rules of static quantization. */
export type StaticRequest = Pick<
  QuantizeRequest,
  | 'quant_type'
  | 'per_channel'
  | 'reduce_range'
  | 'exclude'
  | 'leaf_node'
  | 'smooth_alpha'
  | 'equalize'
  | 'bias_correction'
  | 'inputs_only'
> & {
  /** Names of layers whose weights are quantized without their inputs and outputs, which stay float. */
  floatInputs?: readonly string[];
  /** Names of tables that a lookup and a product share, and of their transposes. They are quantized once, apart. */
  tied?: ReadonlySet<string>;
  /** Names of weights that are outputs of the model as well. They stay float, and so do their products. */
  outputs?: ReadonlySet<string>;
};

/** Operators with their own weight (leaves). */
export const leafOperators = ['Conv', 'Gemm', 'MatMul', 'Gather'] as const;

/**
 * Operators between the leaves: those of ONNX Runtime's quantizer with integer kernels in its CPU provider.
 * Others, such as normalizations and TopK, would be computed in float between Q and DQ, and only lose accuracy.
 */
export const operatorsBetween = [
  'Add',
  'AveragePool',
  'Clip',
  'Concat',
  'Flatten',
  'GlobalAveragePool',
  'LeakyRelu',
  'MaxPool',
  'Mul',
  'Pad',
  'Relu',
  'Reshape',
  'Resize',
  'Sigmoid',
  'Slice',
  'Softmax',
  'Split',
  'Squeeze',
  'Transpose',
  'Unsqueeze',
  'Where',
] as const;

const leaves: ReadonlySet<string> = new Set(leafOperators);

const between: ReadonlySet<string> = new Set(operatorsBetween);

/** Whether to quantize a node of the main graph. */
export function isChosen({ graph }: Model, node: NodeProto, request: StaticRequest): boolean {
  if (node.domain !== '') return false;
  if (isExcluded(node, request.exclude)) return false;
  if (request.inputs_only && node.opType === 'Gather') return false;
  const isLeafAlone = request.leaf_node || request.inputs_only;
  if (!leaves.has(node.opType)) return !isLeafAlone && between.has(node.opType);
  const weight = node.input[weightPosition(node)] ?? '';
  if (request.outputs?.has(weight)) return false;
  const ownsWeight = graph.initializers.get(weight)?.type === 'float' || request.tied?.has(weight) === true;
  return ownsWeight || (!isLeafAlone && node.opType !== 'Conv');
}

/** Return the input position of a leaf's weight. */
const weightPosition = (node: NodeProto): number => (node.opType === 'Gather' ? 0 : 1);

/** Leaves that multiply their input by a weight. */
const products: ReadonlySet<string> = new Set(['Conv', 'Gemm', 'MatMul']);

/** Whether only the weights of a layer are quantized. */
export const keepsInputFloat = (node: NodeProto, { floatInputs = [] }: StaticRequest): boolean =>
  products.has(node.opType) && floatInputs.includes(nodeName(node));
