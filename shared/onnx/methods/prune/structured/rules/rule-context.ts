import { intsAttribute } from '../../../../model/graph/attributes.ts';
import type { Dim } from '../../../../model/graph/value-info.ts';
import type { NodeProto } from '../../../../model/proto/onnx_pb.js';
import { layerName } from '../../layer-name.ts';
import type { Labels } from '../channels.ts';
import type { Carried, DependencyGraph } from '../dependency-graph.ts';

/** Follow channels through a node: labels of its outputs, cut tensors, tied channels, channels that have to stay. */
export type ChannelRule = (context: RuleContext) => void;

/** A node, as a rule sees it. */
export class RuleContext {
  readonly dependencies: DependencyGraph;
  readonly node: NodeProto;
  /** Whether the request leaves this node as it is. */
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

  /** All inputs that carry channels. */
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

  /** Numbers that are an attribute in old opsets and an input in newer ones; undefined where they are not constant. */
  numbers(attribute: string, position: number): number[] | undefined {
    if (!this.isGiven(position)) return intsAttribute(this.node, attribute);
    const elements = this.dependencies.value(this.node.input[position])?.elements;
    const known = elements?.filter((element) => typeof element === 'number');
    return known?.length === elements?.length ? known : undefined;
  }

  /** Everything that comes in has to stay. */
  lock(why: string): void {
    for (const { labels } of this.allCarried()) this.dependencies.channels.lock(labels, why);
  }

  lockAsUnknown(): void {
    this.lock(`${this.label} is not understood in this form`);
  }

  /** Labels of an output. */
  put(output: number, carried: Carried): void {
    const name = this.node.output[output] ?? '';
    if (name !== '') this.dependencies.carried.set(name, carried);
  }

  /** All outputs carry the same. */
  putAll(carried: Carried): void {
    for (const at of this.node.output.keys()) this.put(at, carried);
  }

  /** A constant input loses channels; they are locked where it is none, or of another length. */
  cut(position: number, axis: number, labels: Labels, isWeight = false): void {
    const tensor = this.dependencies.editable(this.node.input[position]);
    if (this.isExcluded) this.dependencies.channels.lock(labels, `${this.label} was excluded`);
    else if (tensor?.dims[axis] === labels.length)
      this.dependencies.cut({ node: this.node, position, axis, labels, isWeight });
    else
      this.dependencies.channels.lock(labels, `${this.label} has no constant for them at input ${position}`);
  }
}
