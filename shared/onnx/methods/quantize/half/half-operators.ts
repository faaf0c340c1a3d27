import { microsoft } from '../../../model/file/model.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';

/**
 * Operators of ONNX that stay in float32: those whose intermediate results overflow half precision (sums of many
 * terms, powers, exponentials), those that take float32 only, and those that draw or select.
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

/** Control flow and sequences, whose inputs and outputs stay as they are. */
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

/** Operators of ONNX Runtime's own that take half precision, which graphs are fused to. */
const halfOperators = new Set([
  ...['Attention', 'PackedAttention', 'MultiHeadAttention', 'GroupQueryAttention', 'RotaryEmbedding'],
  ...['SkipLayerNormalization', 'SkipSimplifiedLayerNormalization', 'EmbedLayerNormalization'],
  ...['BiasGelu', 'FastGelu', 'Gelu', 'QuickGelu', 'FusedMatMul', 'FusedGemm', 'FusedConv', 'BiasAdd'],
]);

/** Why a node stays in float32; undefined where it goes to half precision. */
export function fullPrecisionReason(node: NodeProto): string | undefined {
  if (node.domain === microsoft && halfOperators.has(node.opType)) return undefined;
  if (node.domain !== '') return `operators of ${node.domain} may take float32 only`;
  if (closedOperators.has(node.opType)) return 'what control flow and sequences exchange stays in float32';
  if (fullOperators.has(node.opType)) return 'it would overflow in half precision, or takes float32 only';
  return undefined;
}
