import { intsAttribute } from '../../graph/attributes.ts';
import type { Dim } from '../../graph/value-info.ts';
import type { NodeProto } from '../../proto/onnx_pb.js';
import { layerName } from '../layer-name.ts';
import type { Labels } from './channels.ts';
import type { Carried, Survey } from './survey.ts';

/** Follows channels through a node: what its outputs carry, what is cut, what is tied, what has to stay. */
export type ChannelRule = (site: Site) => void;

/** A node, as a rule sees it. */
export class Site {
  readonly survey: Survey;
  readonly node: NodeProto;
  /** Whether the request leaves this node as it is. */
  readonly isExcluded: boolean;

  constructor(survey: Survey, node: NodeProto, isExcluded: boolean) {
    this.survey = survey;
    this.node = node;
    this.isExcluded = isExcluded;
  }

  get label(): string {
    return `${this.node.opType} ${layerName(this.node)}`;
  }

  carried(position: number): Carried | undefined {
    return this.survey.carried.get(this.node.input[position] ?? '');
  }

  /** All inputs that carry channels. */
  allCarried(): Carried[] {
    return this.node.input.flatMap((name) => this.survey.carried.get(name) ?? []);
  }

  isGiven(position: number): boolean {
    return (this.node.input[position] ?? '') !== '';
  }

  dims(position: number): readonly Dim[] | undefined {
    return this.survey.dims(this.node.input[position]);
  }

  outputDims(position = 0): readonly Dim[] | undefined {
    return this.survey.dims(this.node.output[position]);
  }

  rank(position: number): number | undefined {
    return this.dims(position)?.length;
  }

  /** Numbers that are an attribute in old opsets and an input in newer ones; undefined where they are not constant. */
  numbers(attribute: string, position: number): number[] | undefined {
    if (!this.isGiven(position)) return intsAttribute(this.node, attribute);
    const elements = this.survey.value(this.node.input[position])?.elements;
    const known = elements?.filter((element) => typeof element === 'number');
    return known?.length === elements?.length ? known : undefined;
  }

  /** Everything that comes in has to stay. */
  lock(why: string): void {
    for (const { labels } of this.allCarried()) this.survey.channels.lock(labels, why);
  }

  lockAsUnknown(): void {
    this.lock(`${this.label} is not understood in this form`);
  }

  /** What an output carries. */
  put(output: number, carried: Carried): void {
    const name = this.node.output[output] ?? '';
    if (name !== '') this.survey.carried.set(name, carried);
  }

  /** All outputs carry the same. */
  putAll(carried: Carried): void {
    for (const at of this.node.output.keys()) this.put(at, carried);
  }

  /** A constant input loses channels; they are locked where it is none, or of another length. */
  cut(position: number, axis: number, labels: Labels, isWeight = false): void {
    const tensor = this.survey.editable(this.node.input[position]);
    if (this.isExcluded) this.survey.channels.lock(labels, `${this.label} was excluded`);
    else if (tensor?.dims[axis] === labels.length)
      this.survey.cut({ node: this.node, position, axis, labels, isWeight });
    else this.survey.channels.lock(labels, `${this.label} has no constant for them at input ${position}`);
  }
}
