import { intAttribute, intsAttribute } from '../graph/attributes.ts';
import type { Dim } from '../graph/value-info.ts';
import { elementwiseRules, normStatistics } from './elementwise.ts';
import { groupQueryAttention, multiHeadAttention, packedAttention } from './fused-attention.ts';
import { matMulDims, productRules } from './products.ts';
import { shapingRules } from './shaping.ts';
import { axisOf, broadcast, isKnown, numbersOf, type Rule, typed, type Value, withDim } from './value.ts';

/** Return the rule of an ONNX operator, as the basis of another operator. */
function rule(name: string): Rule {
  const found = [elementwiseRules, productRules, shapingRules].map((rules) => rules.get(name)).find(Boolean);
  if (found === undefined) throw new Error(`there is no rule for ${name}`);
  return found;
}

/** Apply a rule with its inputs at other positions. */
const at =
  (own: Rule, positions: readonly number[]): Rule =>
  (context) =>
    own({ ...context, inputs: positions.map((position) => context.inputs[position]) });

const same: Rule = ({ inputs: [x] }) => typed(x, x?.dims);

/**
 * Transpose an operand as FusedMatMul does. `isBatch` moves the first axis before the last (transBatch), then
 * `isTransposed` swaps the last two axes.
 */
function turned(dims: readonly Dim[] | undefined, isTransposed: boolean, isBatch: boolean) {
  if (dims === undefined || dims.length < 2) return dims;
  const moved = isBatch ? [...dims.slice(1, -1), dims[0] ?? null, dims.at(-1) ?? null] : dims;
  if (!isTransposed) return moved;
  return [...moved.slice(0, -2), moved.at(-1) ?? null, moved.at(-2) ?? null];
}

const fusedMatMul: Rule = ({ node, inputs: [a, b] }) => {
  const is = (name: string) => intAttribute(node, name, 0) !== 0;
  const left = turned(a?.dims, is('transA'), is('transBatchA'));
  return typed(a, matMulDims(left, turned(b?.dims, is('transB'), is('transBatchB'))));
};

/** The normalized sum of an input and a skip connection, then its statistics, and the sum itself. */
const skipNormalization: Rule = ({ inputs: [x] }) => {
  const like = x && { type: x.type, dims: x.dims };
  return [like, normStatistics(x, -1), normStatistics(x, -1), like];
};

/** The normalized sum of word, position and segment embeddings: [batch, sequence, channels]. */
const embedNormalization =
  (tables: number): Rule =>
  ({ node, inputs }) => {
    const [ids] = inputs;
    const table = inputs[tables];
    const type = tables === 2 && table?.type === 'uint8' ? 'float' : table?.type;
    const dims = ids?.dims && [...ids.dims, table?.dims?.at(-1) ?? null];
    const embedded: Value | undefined = type && { type, dims };
    const mask: Value = { type: 'int32', dims: ids?.dims?.slice(0, 1) };
    // The sum of embeddings is the third output. Before masks were counted it took the place of the second.
    return intAttribute(node, 'mask_index_type', 0) === 2
      ? [embedded, { type: 'int32', dims: ids?.dims }, embedded]
      : [embedded, mask, embedded];
  };

/** 8-bit tables. The scale of the word table determines the output type. */
const quantizedEmbedNormalization: Rule = ({ inputs }) => {
  const [ids, , words] = inputs;
  const scale = inputs[8];
  return [
    { type: scale?.type ?? 'float', dims: ids?.dims && [...ids.dims, words?.dims?.at(-1) ?? null] },
    { type: 'int32', dims: ids?.dims?.slice(0, 1) },
  ];
};

/** Two 8-bit operands, each followed by its scale and zero point. */
const quantizedPair: Rule = ({ inputs: [a, , , b] }) => typed(a, broadcast(a?.dims, b?.dims));

const quantizedWhere: Rule = ({ inputs: [condition, x, , , y] }) =>
  typed(x, broadcast(broadcast(condition?.dims, x?.dims), y?.dims));

/** Scale and zero point of the result, then three inputs for each part. */
const quantizedConcat: Rule = (context) => {
  const positions = context.inputs.map((_, place) => place).filter((place) => place >= 2 && place % 3 === 2);
  return at(rule('Concat'), positions)(context);
};

const globalPool: Rule = ({ node, inputs: [x] }) => {
  const isLast = intAttribute(node, 'channels_last', 0) !== 0;
  const channels = (x?.dims?.length ?? 0) - 1;
  return typed(
    x,
    x?.dims?.map((dim, axis) => (axis === 0 || axis === (isLast ? channels : 1) ? dim : 1)),
  );
};

/** Apply a rule for channels on the second axis to values with channels on the last axis. */
const channelsLast =
  (own: Rule, isAlways: boolean): Rule =>
  (context) => {
    if (!isAlways && intAttribute(context.node, 'channels_last', 0) === 0) return own(context);
    const toFirst = (dims: readonly Dim[]) => [dims[0] ?? null, dims.at(-1) ?? null, ...dims.slice(1, -1)];
    const [x, ...others] = context.inputs;
    const first = x && { ...x, dims: x.dims && toFirst(x.dims) };
    const outputs = own({ ...context, inputs: [first, ...others] });
    return outputs?.map(
      (value) =>
        value && {
          ...value,
          dims: value.dims && [value.dims[0] ?? null, ...value.dims.slice(2), value.dims[1] ?? null],
        },
    );
  };

const quantizedReduce: Rule = (context) => {
  const [x] = context.inputs;
  const axes = numbersOf(context, 'axes', -1) ?? intsAttribute(context.node, 'axes');
  if (x?.dims === undefined) return typed(x, undefined);
  const rank = x.dims.length;
  const gone = new Set((axes ?? x.dims.map((_, axis) => axis)).map((axis) => axisOf(axis, rank)));
  const isKept = intAttribute(context.node, 'keepdims', 1) !== 0;
  const dims = x.dims.flatMap((dim, axis) => (gone.has(axis) ? (isKept ? [1] : []) : [dim]));
  return typed(x, dims);
};

const quantizedGemm: Rule = (context) => {
  const outputs = at(rule('Gemm'), [0, 3])(context);
  const zero = context.inputs[8];
  return outputs?.map((value) => value && { ...value, type: zero?.type ?? 'float' });
};

/** `BiasSplitGelu` multiplies one half with the other. */
const splitGelu: Rule = ({ inputs: [x] }) => {
  const last = x?.dims?.at(-1);
  return typed(x, withDim(x?.dims, -1, isKnown(last) ? last / 2 : null));
};

/** A table of 4-bit blocks, possibly two values per byte. The output has the type of the scales. */
const gatherBlocks: Rule = ({ node, inputs: [data, indices, scales] }) => {
  if (data?.dims === undefined || indices?.dims === undefined) return typed(scales, undefined);
  const axis = axisOf(intAttribute(node, 'gather_axis', 0), data.dims.length);
  const last = data.dims.length - 1;
  const bits = intAttribute(node, 'bits', 4);
  const perByte = data.type === 'uint8' ? 8 / bits : 1;
  const dims = data.dims.map((dim, place) => (place === last && isKnown(dim) ? dim * perByte : dim));
  return typed(scales, [...dims.slice(0, axis), ...indices.dims, ...dims.slice(axis + 1)]);
};

const ofFirst = (inputs: readonly (Value | undefined)[]) => inputs[0];
const ofBias = (inputs: readonly (Value | undefined)[]) => inputs[2];

const rules: Readonly<Record<string, Rule>> = {
  Attention: packedAttention(4, ofFirst),
  PackedAttention: packedAttention(-1, ofFirst),
  QAttention: packedAttention(8, ofBias),
  MultiHeadAttention: multiHeadAttention,
  DecoderMaskedMultiHeadAttention: multiHeadAttention,
  GroupQueryAttention: groupQueryAttention,
  RotaryEmbedding: same,
  SkipLayerNormalization: skipNormalization,
  SkipSimplifiedLayerNormalization: skipNormalization,
  EmbedLayerNormalization: embedNormalization(2),
  QEmbedLayerNormalization: quantizedEmbedNormalization,
  BiasGelu: same,
  FastGelu: same,
  Gelu: same,
  QuickGelu: same,
  BiasSplitGelu: splitGelu,
  BiasAdd: same,
  BiasSoftmax: same,
  GroupNorm: same,
  FusedMatMul: fusedMatMul,
  TransposeMatMul: fusedMatMul,
  FusedMatMulActivation: fusedMatMul,
  QGemm: quantizedGemm,
  QLinearAdd: quantizedPair,
  QLinearMul: quantizedPair,
  QLinearSigmoid: same,
  QLinearLeakyRelu: same,
  QLinearSoftmax: same,
  QLinearWhere: quantizedWhere,
  QLinearConcat: quantizedConcat,
  QLinearAveragePool: channelsLast(rule('AveragePool'), false),
  QLinearGlobalAveragePool: globalPool,
  QLinearReduceMean: quantizedReduce,
  QLinearConv: channelsLast(rule('QLinearConv'), false),
  NhwcMaxPool: channelsLast(rule('MaxPool'), true),
  FusedConv: rule('Conv'),
  FusedGemm: rule('Gemm'),
  GatherBlockQuantized: gatherBlocks,
  QuantizeLinear: rule('QuantizeLinear'),
  DequantizeLinear: rule('DequantizeLinear'),
};

/** Values of 8 or 16 bits, summed in 32 bits. */
const widened: Rule = ({ inputs: [x] }) => [
  { type: x?.type?.startsWith('u') === true ? 'uint32' : 'int32', dims: undefined },
];
const hashed: Rule = ({ node, inputs: [x] }) => [
  { type: intAttribute(node, 'positive', 1) === 1 ? 'uint32' : 'int32', dims: x?.dims },
];
/** Operators whose schema leaves the output type open. */
const retyping: [string, Rule][] = [
  ['MatMulInteger16', widened],
  ['ReduceSumInteger', widened],
  ['MurmurHash3', hashed],
  ['GridSample', ({ inputs: [x] }) => typed(x, undefined)],
];

/** Operators of ONNX Runtime's own (domain com.microsoft), as ONNX Runtime infers their types and shapes. */
export const microsoftRules: ReadonlyMap<string, Rule> = new Map([...Object.entries(rules), ...retyping]);
