import { create } from '@bufbuild/protobuf';
import { intsAttribute } from '../../../../model/graph/attributes.ts';
import type { Dim } from '../../../../model/graph/value-info.ts';
import { type NodeProto, NodeProtoSchema } from '../../../../model/proto/onnx_pb.js';
import { makeInt64s, makeTensor } from '../../../../model/tensor/tensor.ts';
import { integersOf } from '../../../../model/tensor/values.ts';
import { layerName } from '../../outcome.ts';
import type { Labels } from '../channels.ts';
import type { Carried, DependencyGraph } from '../dependency-graph.ts';

/** A rule's view of a node. */
export class RuleContext {
  readonly dependencies: DependencyGraph;
  readonly node: NodeProto;
  /** Whether the request excludes this node. */
  readonly isExcluded: boolean;

  constructor(dependencies: DependencyGraph, node: NodeProto, isExcluded: boolean) {
    this.dependencies = dependencies;
    this.node = node;
    this.isExcluded = isExcluded;
  }

  get label(): string {
    return `${this.node.opType} ${layerName(this.node)}`;
  }

  carried(position: number): Carried | undefined {
    return this.dependencies.carried.get(this.node.input[position] ?? '');
  }

  /** Return the channels of all inputs that carry some. */
  allCarried(): Carried[] {
    return this.node.input.flatMap((name) => this.dependencies.carried.get(name) ?? []);
  }

  isGiven(position: number): boolean {
    return (this.node.input[position] ?? '') !== '';
  }

  dims(position: number): readonly Dim[] | undefined {
    return this.dependencies.dims(this.node.input[position]);
  }

  outputDims(position = 0): readonly Dim[] | undefined {
    return this.dependencies.dims(this.node.output[position]);
  }

  rank(position: number): number | undefined {
    return this.dims(position)?.length;
  }

  /**
   * Return numbers that are an attribute in old opsets and an input in newer ones. Undefined if they are not
   * constant.
   */
  numbers(attribute: string, position: number): number[] | undefined {
    if (!this.isGiven(position)) return intsAttribute(this.node, attribute);
    const elements = this.dependencies.value(this.node.input[position])?.elements;
    const known = elements?.filter((element) => typeof element === 'number');
    return known?.length === elements?.length ? known : undefined;
  }

  /** Lock the channels of all inputs. */
  lock(why: string): void {
    for (const { labels } of this.allCarried()) this.dependencies.channels.lock(labels, why);
  }

  lockAsUnknown(): void {
    this.lock(`${this.label} is not supported in this form`);
  }

  /** Set the labels of an output. */
  put(output: number, carried: Carried): void {
    const name = this.node.output[output] ?? '';
    if (name !== '') this.dependencies.carried.set(name, carried);
  }

  /** Set the same labels for all outputs. */
  putAll(carried: Carried): void {
    for (const at of this.node.output.keys()) this.put(at, carried);
  }

  /**
   * Let a constant input lose channels. Lock the channels if the input is not a constant or has another length.
   */
  cut(position: number, axis: number, labels: Labels, isWeight = false): void {
    const tensor = this.dependencies.editable(this.node.input[position]);
    if (this.isExcluded) this.dependencies.channels.lock(labels, `${this.label} was excluded`);
    else if (tensor?.dims[axis] === labels.length)
      this.dependencies.cut({ node: this.node, position, axis, labels, isWeight });
    else
      this.dependencies.channels.lock(labels, `${this.label} has no constant for them at input ${position}`);
  }
}

/** Follow channels through a node: set the labels of its outputs, cut constants, and tie or lock channels. */
export type ChannelRule = (context: RuleContext) => void;

type Setter = (value: number) => void;

/**
 * Return a setter for one element of a shape at an input, by default a Reshape's. It changes the constant shape, or the constant part that a
 * Concat joins, or makes a computed shape constant. Undefined if none of these applies.
 */
export function settableSize(context: RuleContext, element: number, position = 1): Setter | undefined {
  const name = context.node.input[position] ?? '';
  if (context.dependencies.constant(name) !== undefined)
    return inConstant(context, context.node, position, element);
  // Sizes of Resize are not taken apart.
  if (position !== 1) return undefined;
  const producer = context.dependencies.index.producer(name);
  const part = producer?.opType === 'Concat' ? inPart(context, producer, element) : undefined;
  // Only Reshape has −1 for the elements that are not known.
  return part ?? (context.node.opType === 'Reshape' ? asConstant(context, element) : undefined);
}

/** Return a setter for an element of a node's constant input. The setter copies the constant. */
function inConstant(
  { dependencies }: RuleContext,
  owner: NodeProto,
  position: number,
  at: number,
): Setter | undefined {
  const tensor = dependencies.constant(owner.input[position]);
  if (tensor === undefined || tensor.dims.length !== 1) return undefined;
  return (value) => {
    const now = dependencies.constant(owner.input[position]) ?? tensor;
    setNumbers(dependencies, owner, position, integersOf(now).with(at, value));
  };
}

/** Give a node its own integer constant at an input. Other users keep the old constant. */
export function setNumbers(
  { model, names }: DependencyGraph,
  node: NodeProto,
  position: number,
  numbers: readonly number[],
): void {
  const former = model.graph.initializers.get(node.input[position] ?? '');
  const name = names.make(`${layerName(node)}_input_${position}`);
  model.graph.put(
    former?.type === 'int32'
      ? makeTensor(name, 'int32', [numbers.length], Int32Array.from(numbers))
      : makeInt64s(name, numbers),
  );
  while (node.input.length < position) node.input.push('');
  node.input[position] = name;
}

/**
 * Return a setter for an element of a Concat's constant input. The setter copies the Concat if other nodes use it,
 * too.
 */
function inPart(context: RuleContext, concat: NodeProto, element: number): Setter | undefined {
  const { dependencies, node } = context;
  let start = 0;
  for (const [position, part] of concat.input.entries()) {
    const length = dependencies.value(part)?.elements?.length ?? dependencies.dims(part)?.[0];
    if (typeof length !== 'number') return undefined;
    if (element >= start + length) {
      start += length;
      continue;
    }
    if (dependencies.index.soleUse(concat.output[0] ?? '') !== undefined)
      return inConstant(context, concat, position, element - start);
    const copy = create(NodeProtoSchema, {
      ...concat,
      name: dependencies.names.make(`${concat.name || 'Concat'}_own`),
    });
    copy.input = [...concat.input];
    copy.output = [dependencies.names.make(`${concat.output[0]}_own`)];
    const set = inConstant(context, copy, position, element - start);
    return (
      set &&
      ((value) => {
        const { graph } = dependencies.model;
        graph.nodes.splice(graph.nodes.indexOf(node), 0, copy);
        node.input[1] = copy.output[0] ?? '';
        set(value);
      })
    );
  }
  return undefined;
}

/**
 * Return a setter that makes a computed shape constant. At most one other element may be unknown; it becomes −1.
 */
function asConstant({ dependencies, node }: RuleContext, element: number): Setter | undefined {
  const elements = dependencies.value(node.input[1])?.elements ?? [];
  const open = elements.filter((one, at) => at !== element && (typeof one !== 'number' || one === -1));
  if (open.length > 1 || elements.includes(0)) return undefined;
  return (value) =>
    setNumbers(
      dependencies,
      node,
      1,
      elements.map((one, at) => (at === element ? value : typeof one === 'number' ? one : -1)),
    );
}
