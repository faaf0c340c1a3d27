import { intAttribute } from '../../model/graph/attributes.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';

/** Positions of an operator's quantized inputs, with their zero points and scales. */
interface Operands {
  data: readonly number[];
  /** In the order of `data`; -1 for none. */
  zeroPoints: readonly number[];
  scales: readonly number[];
}

const operands: Readonly<Record<string, Operands>> = {
  QuantizeLinear: { data: [], zeroPoints: [2], scales: [1] },
  DequantizeLinear: { data: [0], zeroPoints: [2], scales: [1] },
  MatMulInteger: { data: [1], zeroPoints: [3], scales: [] },
  ConvInteger: { data: [1], zeroPoints: [3], scales: [] },
  DynamicQuantizeMatMul: { data: [1], zeroPoints: [3], scales: [2] },
  MatMulIntegerToFloat: { data: [1], zeroPoints: [5], scales: [2, 3] },
  QLinearMatMul: { data: [3], zeroPoints: [5], scales: [1, 4, 6] },
  QLinearConv: { data: [3], zeroPoints: [5], scales: [1, 4, 6] },
  QAttention: { data: [1], zeroPoints: [7], scales: [3, 4] },
  DynamicQuantizeLSTM: { data: [1, 2], zeroPoints: [9, 11], scales: [8, 10] },
  MatMulNBits: { data: [1], zeroPoints: [3], scales: [2] },
  GatherBlockQuantized: { data: [0], zeroPoints: [3], scales: [2] },
};

/** A quantized constant of a node. The name of an omitted input is ''. */
export interface QuantizedOperand {
  data: string;
  zeroPoint: string;
  /** Values of `bits` bits packed into bytes, and their number; undefined if values are not packed. */
  packed?: { bits: number; values: number | undefined };
}

function packing(node: NodeProto): QuantizedOperand['packed'] {
  if (node.opType === 'MatMulNBits') {
    return {
      bits: intAttribute(node, 'bits', 4),
      values: intAttribute(node, 'K', 0) * intAttribute(node, 'N', 0),
    };
  }
  if (node.opType === 'GatherBlockQuantized')
    return { bits: intAttribute(node, 'bits', 4), values: undefined };
  return undefined;
}

/** Return the quantized constants of a node, and its auxiliary inputs that are not parameters. */
export function quantizedOperands(node: NodeProto): { constants: QuantizedOperand[]; auxiliary: string[] } {
  const known = operands[node.opType];
  if (known === undefined) return { constants: [], auxiliary: [] };
  const at = (position: number): string => node.input[position] ?? '';
  const packed = packing(node);
  return {
    constants: known.data.map((position, index) => ({
      data: at(position),
      zeroPoint: at(known.zeroPoints[index] ?? -1),
      ...(packed && { packed }),
    })),
    auxiliary: [...known.zeroPoints, ...known.scales].map(at),
  };
}
