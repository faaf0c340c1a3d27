import type { Model } from '../../../model/file/model.ts';
import type { GraphIndex } from '../../../model/graph/graph-index.ts';
import type { ValueType } from '../../../model/graph/value-info.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { Tensor } from '../../../model/tensor/tensor.ts';
import { isQuantizable } from '../weight-store.ts';

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
