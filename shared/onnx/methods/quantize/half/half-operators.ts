import { microsoft } from '../../../model/file/model.ts';
import { stringAttribute } from '../../../model/graph/attributes.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';

/**
 * ONNX operators that stay in float32: those whose intermediate results overflow half precision (sums of many
 * terms, powers, exponentials), those that take float32 only, and those that sample or select.
 */
const fullOperators = new Set([
  ...['Exp', 'Pow', 'CumSum', 'ReduceSum', 'ReduceSumSquare', 'ReduceL2', 'ReduceLogSum', 'ReduceLogSumExp'],
  ...['ReduceProd', 'LpNormalization', 'MeanVarianceNormalization', 'InstanceNormalization', 'Det'],
  ...['Resize', 'Upsample', 'GridSample', 'RoiAlign', 'MaxRoiPool', 'NonMaxSuppression', 'TopK', 'Range'],
  ...['QuantizeLinear', 'DequantizeLinear', 'DynamicQuantizeLinear', 'QLinearConv', 'QLinearMatMul'],
  ...['RandomNormal', 'RandomNormalLike', 'RandomUniform', 'RandomUniformLike', 'Multinomial', 'Bernoulli'],
  ...[
    'Constant',
    'ConstantOfShape',
    'EyeLike',
    'OneHot',
    'STFT',
    'DFT',
    'MelWeightMatrix',
    'HannWindow',
    'HammingWindow',
    'BlackmanWindow',
    'ImageDecoder',
  ],
]);

/** Control flow and sequence operators, whose inputs and outputs keep their types. */
const closedOperators = new Set([
  ...[
    'If',
    'Loop',
    'Scan',
    'SequenceMap',
    'Optional',
    'OptionalGetElement',
    'OptionalHasElement',
    'StringNormalizer',
  ],
  ...[
    'SequenceConstruct',
    'SequenceAt',
    'SequenceInsert',
    'SequenceErase',
    'SequenceEmpty',
    'SequenceLength',
  ],
  ...['ConcatFromSequence', 'SplitToSequence', 'TfIdfVectorizer'],
]);

/** Fused operators of ONNX Runtime's own domain that support half precision. */
const halfOperators = new Set([
  ...['Attention', 'PackedAttention', 'MultiHeadAttention', 'GroupQueryAttention', 'RotaryEmbedding'],
  ...['SkipLayerNormalization', 'SkipSimplifiedLayerNormalization', 'EmbedLayerNormalization'],
  ...['BiasGelu', 'FastGelu', 'Gelu', 'QuickGelu', 'FusedMatMul', 'FusedGemm', 'FusedConv', 'BiasAdd'],
]);

/** Whether a scatter adds or multiplies, as graph networks sum over their edges. Without a reduction, it only moves. */
const isReducingScatter = (node: NodeProto): boolean =>
  (node.opType === 'ScatterElements' || node.opType === 'ScatterND') &&
  stringAttribute(node, 'reduction', 'none') !== 'none';

/** Return the reason why a node's operator stays in float32. Undefined if it is converted. */
export function fullPrecisionReason(node: NodeProto): string | undefined {
  if (node.domain === microsoft && halfOperators.has(node.opType)) return undefined;
  if (node.domain !== '') return `operators of ${node.domain} may take float32 only`;
  if (closedOperators.has(node.opType)) return 'what control flow and sequences exchange stays in float32';
  if (isReducingScatter(node)) return 'ONNX Runtime reduces what it scatters in float32 only';
  if (fullOperators.has(node.opType)) return 'it would overflow in half precision, or takes float32 only';
  return undefined;
}
