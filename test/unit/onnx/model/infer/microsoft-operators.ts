import { create } from '@bufbuild/protobuf';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import type { AttributeValue } from '../../../../../shared/onnx/model/graph/attributes.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { type Dim, valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import { ValueInfoProtoSchema } from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import type { DataTypeName } from '../../../../../shared/onnx/model/tensor/data-type.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';

/** Dimensions of an input of float32, or of another type with its name before them; an empty text is no input. */
type Given = readonly Dim[] | readonly [DataTypeName, readonly Dim[]] | '';

interface Case {
  op: string;
  inputs: readonly Given[];
  attributes?: Record<string, AttributeValue>;
  outputs?: number;
  domain?: string;
  /** Where ONNX Runtime knows less than follows from the inputs: only type and rank are compared. */
  isMore?: boolean;
}

const hidden = ['b', 's', 16] as const;
const u8 = (dims: readonly Dim[]) => ['uint8', dims] as const;
const scale = [[], u8([])] as const;
const ids = ['int32', ['b', 's']] as const;

export const cases: readonly Case[] = [
  { op: 'Attention', inputs: [hidden, [16, 24], [24]], attributes: { num_heads: 2 } },
  {
    op: 'Attention',
    inputs: [hidden, [16, 40], [40]],
    attributes: { num_heads: 2, qkv_hidden_sizes: [16, 16, 8] },
  },
  {
    op: 'Attention',
    inputs: [[1, 4, 16], [16, 48], [48], '', [2, 1, 2, 3, 8]],
    attributes: { num_heads: 2 },
    outputs: 2,
  },
  {
    op: 'QAttention',
    inputs: [u8(hidden), u8([16, 48]), [48], [], [], '', u8([]), u8([])],
    attributes: { num_heads: 2 },
  },
  { op: 'MultiHeadAttention', inputs: [hidden, hidden, hidden], attributes: { num_heads: 2 } },
  {
    op: 'MultiHeadAttention',
    inputs: [hidden, ['b', 't', 16], ['b', 't', 24]],
    attributes: { num_heads: 2 },
  },
  { op: 'MultiHeadAttention', inputs: [['b', 's', 2, 3, 8]], attributes: { num_heads: 2 } },
  {
    op: 'MultiHeadAttention',
    inputs: [hidden, ['b', 2, 't', 8], ['b', 2, 't', 8]],
    attributes: { num_heads: 2 },
  },
  {
    op: 'MultiHeadAttention',
    inputs: [
      [1, 4, 16],
      [1, 4, 16],
      [1, 4, 16],
    ],
    attributes: { num_heads: 2 },
    outputs: 3,
    isMore: true,
  },
  { op: 'SkipLayerNormalization', inputs: [hidden, hidden, [16], [16]] },
  { op: 'SkipLayerNormalization', inputs: [hidden, hidden, [16], [16], [16]], outputs: 4 },
  { op: 'SkipSimplifiedLayerNormalization', inputs: [hidden, hidden, [16]], outputs: 4 },
  {
    op: 'EmbedLayerNormalization',
    inputs: [ids, ids, [99, 16], [32, 16], [2, 16], [16], [16], ids],
    outputs: 2,
  },
  {
    op: 'EmbedLayerNormalization',
    inputs: [ids, '', [99, 16], [32, 16], '', [16], [16]],
    outputs: 3,
  },
  {
    op: 'QEmbedLayerNormalization',
    inputs: [
      ...[ids, ids, u8([99, 16]), u8([32, 16]), u8([2, 16]), u8([16]), u8([16]), ''],
      ...[[], [], [], [], [], u8([]), u8([]), u8([]), u8([]), u8([])],
    ] as Given[],
    outputs: 2,
  },
  { op: 'BiasGelu', inputs: [hidden, [16]] },
  { op: 'FastGelu', inputs: [hidden, [16]] },
  { op: 'Gelu', inputs: [hidden] },
  { op: 'QuickGelu', inputs: [hidden] },
  {
    op: 'FusedMatMul',
    inputs: [
      ['b', 's', 16],
      [16, 24],
    ],
  },
  {
    op: 'FusedMatMul',
    inputs: [
      ['b', 16, 's'],
      ['b', 24, 16],
    ],
    attributes: { transA: 1, transB: 1 },
  },
  {
    op: 'FusedMatMul',
    inputs: [
      [5, 3, 7, 16],
      [5, 3, 16, 24],
    ],
    attributes: { alpha: { float: 0.5 } },
  },
  {
    op: 'FusedMatMul',
    inputs: [
      [7, 5, 3, 16],
      [5, 3, 16, 24],
    ],
    attributes: { transBatchA: 1 },
  },
  { op: 'FusedGemm', inputs: [['b', 16], [24, 16], [24]], attributes: { transB: 1, activation: 'Relu' } },
  {
    op: 'FusedConv',
    inputs: [['b', 3, 9, 9], [8, 3, 3, 3], [8]],
    attributes: { activation: 'Relu', strides: [2, 2], pads: [1, 1, 1, 1], kernel_shape: [3, 3] },
  },
  { op: 'DynamicQuantizeMatMul', inputs: [hidden, u8([16, 24]), [], u8([])] },
  { op: 'MatMulIntegerToFloat', inputs: [u8(hidden), u8([16, 24]), [], [], u8([]), u8([])] },
  { op: 'QLinearAdd', inputs: [u8(hidden), ...scale, u8([16]), ...scale, ...scale] },
  { op: 'QLinearMul', inputs: [u8(hidden), ...scale, u8(hidden), ...scale, ...scale] },
  { op: 'QLinearSigmoid', inputs: [u8(hidden), ...scale, ...scale] },
  { op: 'QLinearLeakyRelu', inputs: [u8(hidden), ...scale, ...scale] },
  {
    op: 'QLinearSoftmax',
    inputs: [u8(hidden), ...scale, ...scale],
    attributes: { opset: 13, axis: -1 },
  },
  {
    op: 'QLinearAveragePool',
    inputs: [u8(['b', 3, 9, 9]), ...scale, ...scale],
    attributes: { kernel_shape: [3, 3], strides: [2, 2] },
  },
  { op: 'QLinearGlobalAveragePool', inputs: [u8(['b', 3, 9, 9]), ...scale, ...scale] },
  {
    op: 'QLinearGlobalAveragePool',
    inputs: [u8(['b', 9, 9, 3]), ...scale, ...scale],
    attributes: { channels_last: 1 },
  },
  {
    op: 'QLinearConcat',
    inputs: [...scale, u8(['b', 3, 9]), ...scale, u8(['b', 4, 9]), ...scale],
    attributes: { axis: 1 },
  },
  { op: 'QGemm', inputs: [u8(['b', 16]), ...scale, u8([16, 24]), ...scale, ['int32', [24]], ...scale] },
  { op: 'QGemm', inputs: [u8(['b', 16]), ...scale, u8([24, 16]), ...scale], attributes: { transB: 1 } },
  {
    op: 'MatMulNBits',
    inputs: [['b', 's', 32], u8([24, 1, 16]), [24]],
    attributes: { K: 32, N: 24, bits: 4, block_size: 32 },
  },
  {
    op: 'GatherBlockQuantized',
    inputs: [u8([99, 16]), ['int64', ['b', 's']], [99, 1]],
    attributes: { bits: 4, block_size: 32, quantize_axis: 1 },
  },
  { op: 'LayerNormalization', inputs: [hidden, [16], [16]], outputs: 3, domain: '' },
  { op: 'SimplifiedLayerNormalization', inputs: [hidden, [16]], domain: '' },
  {
    op: 'QLinearConv',
    inputs: [u8(['b', 3, 9, 9]), ...scale, u8([8, 3, 3, 3]), ...scale, ...scale, ['int32', [8]]],
    domain: '',
  },
  { op: 'QLinearMatMul', inputs: [u8(hidden), ...scale, u8([16, 24]), ...scale, ...scale], domain: '' },
];

export function modelOf({ op, inputs, attributes = {}, outputs = 1, domain = 'com.microsoft' }: Case): Model {
  const names = inputs.map((given, at) => (given === '' ? '' : `x${at}`));
  const results = Array.from({ length: outputs }, (_, at) => `y${at}`);
  const model = smallModel({
    nodes: [makeNode(op, names, results, { domain, attributes })],
    constants: [],
    inputs: {},
    outputs: {},
    domains: { 'com.microsoft': 1 },
  });
  model.graph.proto.input = inputs.flatMap((given, at) => {
    if (given === '') return [];
    const isTyped = Array.isArray(given[1]);
    const [type, dims] = isTyped ? (given as [DataTypeName, Dim[]]) : (['float', given as Dim[]] as const);
    return [valueInfoOf({ name: `x${at}`, type, dims })];
  });
  // Without a declared type ONNX Runtime infers it.
  model.graph.proto.output = results.map((name) => create(ValueInfoProtoSchema, { name }));
  return model;
}
