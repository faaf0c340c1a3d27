import { floatAttribute, intAttribute, stringAttribute } from '../../../model/graph/attributes.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { floatsOf, isFloatTensor } from '../../../model/tensor/values.ts';
import type { StaticPlan } from './static-plan.ts';

/** Options of the rules. */
export interface StaticOptions {
  /** Whether weights get a scale for each channel. */
  perChannel: boolean;
  /** Whether the outputs of matrix products stay float. */
  inputsOnly: boolean;
  /** Whether quantization at an activation's range clips negative values, as far as is known. */
  clips(activation: string): boolean;
}

/** Mark the inputs and outputs of a node for quantization. */
type StaticRule = (plan: StaticPlan, node: NodeProto, options: StaticOptions) => void;

/** Mark only the constant factors of a Conv, Gemm or MatMul. Their users dequantize them and compute in float. */
export const weightsAlone: StaticRule = (plan, node, options) => {
  if (node.opType === 'MatMul') markFactors(plan, node, options);
  else plan.constant(node, 1, 'weight', options.perChannel ? productAxis(node) : undefined);
};

/** Mark the constant inputs of a MatMul. Return the positions of the other inputs. */
function markFactors(plan: StaticPlan, node: NodeProto, { perChannel }: StaticOptions): number[] {
  return [0, 1].filter((position) => {
    const constant = plan.constantOf(node, position);
    if (constant === undefined) return true;
    const hasChannels = perChannel && position === 1 && constant.dims.length === 2;
    plan.constant(node, position, 'weight', hasChannels ? 1 : undefined);
    return false;
  });
}

/** Return the output channel axis of the weight of a Conv or Gemm. */
const productAxis = (node: NodeProto): number =>
  node.opType === 'Conv' || intAttribute(node, 'transB', 0) !== 0 ? 0 : 1;

/** Return the rule of an operator. The rules are those of ONNX Runtime's QDQ quantizer. */
export const staticRule = (operator: string): StaticRule => rules.get(operator) ?? everything;

const conv: StaticRule = (plan, node, { perChannel }) =>
  markProduct(plan, node, perChannel ? productAxis(node) : undefined);

/**
 * Rule of Conv and Gemm: mark activation, weight and result, and a constant bias at the scale of activation times
 * weight.
 */
function markProduct(plan: StaticPlan, node: NodeProto, axis: number | undefined, isWritten = true): void {
  const activation = plan.read(node, 0);
  if (plan.constantOf(node, 1) === undefined) plan.read(node, 1);
  const weight = plan.constant(node, 1, 'weight', axis);
  if (isWritten) plan.write(node, 0);
  const tensor = plan.constantOf(node, 2);
  if (tensor?.type !== 'float' || weight === undefined) return;
  if (activation === undefined || 'tensor' in activation) return;
  plan.biases.push({ node, position: 2, tensor, activation, weight });
}

const gemm: StaticRule = (plan, node, { perChannel, inputsOnly }) =>
  markProduct(plan, node, perChannel ? productAxis(node) : undefined, !inputsOnly);

const matMul: StaticRule = (plan, node, options) => {
  for (const position of markFactors(plan, node, options)) plan.read(node, position);
  if (!options.inputsOnly) plan.write(node, 0);
};

/** Rule of Gather: mark lookups in a constant table or in a quantized value. */
const gather: StaticRule = (plan, node) => {
  const isTable = plan.constantOf(node, 0) !== undefined;
  const data = isTable || plan.markOf(node, 0) ? plan.read(node, 0) : undefined;
  if (data !== undefined) plan.write(node, 0, data);
};

/** Rule of operators that only move values. Quantize the output if the input is quantized, at its scale. */
const moved: StaticRule = (plan, node) => {
  if (plan.markOf(node, 0) === undefined) return;
  const data = plan.read(node, 0);
  if (data !== undefined) plan.write(node, 0, data);
};

/** Rule of operators that move 8-bit values only from an opset on. */
const movedSince =
  (opset: number): StaticRule =>
  (plan, node, options) => {
    if (plan.model.opset() >= opset) moved(plan, node, options);
  };

const split: StaticRule = (plan, node) => {
  const data = plan.read(node, 0);
  if (data === undefined) return;
  for (const position of node.output.keys()) plan.write(node, position, data);
};

const pad: StaticRule = (plan, node) => {
  const data = plan.read(node, 0);
  plan.read(node, 2);
  plan.write(node, 0, addsNothingNew(plan, node) ? data : undefined);
};

/** Whether the values that Pad adds are in the range of its input: copies of values, or zeros. */
function addsNothingNew(plan: StaticPlan, node: NodeProto): boolean {
  if (stringAttribute(node, 'mode', 'constant') !== 'constant') return true;
  if (plan.model.opset() < 11) return floatAttribute(node, 'value', 0) === 0;
  if (!node.input[2]) return true;
  const value = plan.constantOf(node, 2);
  return value !== undefined && isFloatTensor(value) && floatsOf(value)[0] === 0;
}

const where: StaticRule = (plan, node) => {
  if (plan.markOf(node, 1) === undefined || plan.markOf(node, 2) === undefined) return;
  plan.read(node, 1);
  plan.read(node, 2);
  plan.write(node, 0);
};

/**
 * Rule of Relu and Clip. The quantization of the preceding value replaces them if that value has no other user.
 */
const clip: StaticRule = (plan, node, { clips }) => {
  const mark = plan.markOf(node, 0);
  if (mark === undefined || 'tensor' in mark) return;
  const isAlone = plan.index.soleUse(node.input[0] ?? '') !== undefined;
  // A body reads the value itself, before its quantization.
  const isInBody = plan.index.uses(node.output[0] ?? '').some(({ position }) => position === -1);
  const replaces = isAlone && !isInBody && clipsAroundZero(plan, node) && clips(node.output[0] ?? '');
  if (replaces && mark.producer !== undefined) {
    plan.replaceClip(node, mark.producer);
    return;
  }
  plan.read(node, 0);
  plan.write(node, 0);
};

/** Whether the range of a clip includes zero. The range of a quantized value always does. */
function clipsAroundZero(plan: StaticPlan, node: NodeProto): boolean {
  if (node.opType === 'Relu') return true;
  const bound = (position: number, name: string, otherwise: number): number => {
    if (plan.model.opset() < 11) return floatAttribute(node, name, otherwise);
    if (!node.input[position]) return otherwise;
    const constant = plan.constantOf(node, position);
    return constant !== undefined && isFloatTensor(constant)
      ? (floatsOf(constant)[0] ?? Number.NaN)
      : Number.NaN;
  };
  return bound(1, 'min', -1) <= 0 && bound(2, 'max', 1) >= 0;
}

const rules: ReadonlyMap<string, StaticRule> = new Map([
  ['Conv', conv],
  ['Gemm', gemm],
  ['MatMul', matMul],
  ['Gather', gather],
  ['AveragePool', moved],
  ['Flatten', moved],
  ['Reshape', moved],
  ['Slice', moved],
  ['Squeeze', moved],
  ['Transpose', moved],
  ['Unsqueeze', moved],
  ['MaxPool', movedSince(12)],
  ['Resize', movedSince(11)],
  ['Split', split],
  ['Pad', pad],
  ['Where', where],
  ['Clip', clip],
  ['Relu', clip],
]);

/** Rule of all other operators: mark every input and output. */
const everything: StaticRule = (plan, node) => {
  for (const position of node.input.keys()) plan.read(node, position);
  for (const position of node.output.keys()) plan.write(node, position);
};
