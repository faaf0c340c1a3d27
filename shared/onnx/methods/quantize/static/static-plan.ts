import type { Model } from '../../../model/file/model.ts';
import { floatAttribute, intAttribute, stringAttribute } from '../../../model/graph/attributes.ts';
import { GraphIndex } from '../../../model/graph/graph-index.ts';
import type { ValueType } from '../../../model/graph/value-info.ts';
import { inferValues } from '../../../model/infer/infer-values.ts';
import { ModelError } from '../../../model/model-error.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf, isFloatTensor } from '../../../model/tensor/values.ts';
import type { CalibrationRanges, Range } from '../../calibrate/ranges.ts';
import { weightsInBodies } from '../../report/weights-in-bodies.ts';
import { anglesOf } from '../angle-nodes.ts';
import { isQuantizable } from '../weight-store.ts';
import { weightTypes } from '../weight-types.ts';
import { adjustedRanges } from './adjusted-ranges.ts';
import { squareChains } from './square-chains.ts';
import { isChosen, keepsInputFloat, type StaticRequest } from './static-operators.ts';

/** A constant to quantize, for one or more users with the same role and axis. */
export interface ConstantMark {
  tensor: Tensor;
  /** A weight is symmetric int8. Any other constant has the type of activations. */
  role: 'weight' | 'operand';
  axis: number | undefined;
  readers: { node: NodeProto; position: number }[];
}

/** An activation to quantize. */
export interface ActivationMark {
  name: string;
  /** The quantized node that produces it. Undefined if a float node or the caller does. */
  producer?: NodeProto;
  readers: Set<NodeProto>;
  /** The mark whose scale it shares. */
  sharedWith?: ActivationMark | ConstantMark;
}

/** A bias to quantize to int32, at the scale of the activation times that of the weight. */
export interface BiasMark {
  node: NodeProto;
  position: number;
  tensor: Tensor;
  activation: ActivationMark;
  weight: ConstantMark;
}

/** The parts of a graph to quantize, found node by node before any change. */
export class StaticPlan {
  readonly model: Model;
  readonly index: GraphIndex;
  readonly activations = new Map<string, ActivationMark>();
  readonly constants: ConstantMark[] = [];
  readonly biases: BiasMark[] = [];
  /** Clips that the preceding quantization makes redundant, from their input to their output. */
  readonly replaced = new Map<string, string>();
  readonly #types: ReadonlyMap<string, ValueType>;
  readonly #byTensor = new Map<Tensor, ConstantMark[]>();

  /** Names of values that are quantized apart. */
  readonly #apart: ReadonlySet<string>;

  constructor(
    model: Model,
    index: GraphIndex,
    types: ReadonlyMap<string, ValueType>,
    apart: ReadonlySet<string> = new Set(),
  ) {
    this.model = model;
    this.#apart = apart;
    this.index = index;
    this.#types = types;
  }

  constantOf(node: NodeProto, position: number): Tensor | undefined {
    return this.model.graph.initializers.get(node.input[position] ?? '');
  }

  /** Return the mark of a node's input, if it has one. */
  markOf(node: NodeProto, position: number): ActivationMark | ConstantMark | undefined {
    const tensor = this.constantOf(node, position);
    if (tensor === undefined) return this.activations.get(node.input[position] ?? '');
    return this.#byTensor.get(tensor)?.find(({ role }) => role === 'operand');
  }

  /**
   * Mark an input of a node for quantization: a constant operand or an activation. Ignore values that are not
   * float32.
   */
  read(node: NodeProto, position: number): ActivationMark | ConstantMark | undefined {
    if (this.constantOf(node, position) !== undefined) return this.constant(node, position, 'operand');
    const mark = this.#activation(node.input[position] ?? '');
    mark?.readers.add(node);
    return mark;
  }

  /**
   * Mark a constant input of a node for quantization, with a scale for each channel along `axis` if it is given.
   */
  constant(
    node: NodeProto,
    position: number,
    role: ConstantMark['role'],
    axis?: number,
  ): ConstantMark | undefined {
    const tensor = this.constantOf(node, position);
    if (tensor === undefined || !isQuantizable(tensor) || this.#apart.has(tensor.name)) return undefined;
    const marks = this.#byTensor.get(tensor) ?? [];
    this.#byTensor.set(tensor, marks);
    let mark = marks.find((one) => one.role === role && one.axis === axis);
    if (mark === undefined) {
      mark = { tensor, role, axis, readers: [] };
      marks.push(mark);
      this.constants.push(mark);
    }
    mark.readers.push({ node, position });
    return mark;
  }

  /** Mark an output of a node for quantization, at its own scale or at that of another mark. */
  write(node: NodeProto, position: number, sharedWith?: ActivationMark | ConstantMark): void {
    const mark = this.#activation(node.output[position] ?? '');
    if (mark === undefined) return;
    mark.producer = node;
    if (sharedWith !== undefined) mark.sharedWith = sharedWith;
  }

  /** Let the node before a clip write the clip's output. The quantization clips instead. */
  replaceClip(clip: NodeProto, producer: NodeProto): void {
    const [input = ''] = clip.input;
    const [output = ''] = clip.output;
    this.activations.delete(input);
    this.replaced.set(input, output);
    const mark = this.#activation(output);
    if (mark !== undefined) mark.producer = producer;
  }

  #activation(name: string): ActivationMark | undefined {
    const known = this.activations.get(name);
    if (known !== undefined) return known;
    if (name === '' || this.#apart.has(name) || this.#types.get(name)?.type !== 'float') return undefined;
    const mark: ActivationMark = { name, readers: new Set() };
    this.activations.set(name, mark);
    return mark;
  }
}

/** First opset in which QuantizeLinear has an axis. */
export const minOpsetPerChannel = 13;

/**
 * Plan the quantization of a prepared model, with the adjusted ranges of its activations. Without measured ranges,
 * assume that every activation has one.
 */
export function makeStaticPlan(
  model: Model,
  request: StaticRequest,
  measured?: CalibrationRanges,
): { plan: StaticPlan; ranges: Map<string, Range> } {
  const index = new GraphIndex(model.graph);
  const plan = new StaticPlan(model, index, inferValues(model), request.tied);
  const ranges = adjustedRanges(model, index, request, measured ?? new Map());
  const clips = (name: string): boolean => {
    const range = ranges.get(name);
    return measured === undefined || (range !== undefined && (range.min < 0 || range.max > 0));
  };
  const perChannel = request.per_channel && model.opset() >= minOpsetPerChannel;
  const options = { perChannel, inputsOnly: request.inputs_only, clips };
  const inFloat = new Set([...squareChains(model.graph, index), ...anglesOf(model)]);
  for (const node of model.graph.nodes) {
    if (!isChosen(model, node, request) || inFloat.has(node)) continue;
    const rule = keepsInputFloat(node, request) ? weightsAlone : staticRule(node.opType);
    rule(plan, node, options);
  }
  return { plan, ranges };
}

/** Return the error for a model without a constant that can be quantized. */
export const nothingToQuantize = ({ graph }: Model): ModelError =>
  new ModelError(
    `Static methods have nothing to quantize: outside of control flow, the model has no Conv, Gemm, MatMul or Gather with a constant float weight that is not excluded.${weightTypes(graph, ' dynamic and the methods in blocks take half precision.')}${weightsInBodies(graph)}`,
  );

/** Options of the rules. */
interface StaticOptions {
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
const weightsAlone: StaticRule = (plan, node, options) => {
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
const staticRule = (operator: string): StaticRule => rules.get(operator) ?? everything;

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
