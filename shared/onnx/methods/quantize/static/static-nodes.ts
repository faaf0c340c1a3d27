import type { Names } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { type ActivationScales, quantizePair } from './static-activations.ts';
import type { StaticPlan } from './static-plan.ts';

/** Inserts pairs of QuantizeLinear and DequantizeLinear around the nodes of a planned graph. */
export class StaticNodes {
  readonly #plan: StaticPlan;
  readonly #names: Names;
  readonly #scales: ActivationScales;
  /** Dequantized value that replaces an activation as an input, by the activation's name. */
  readonly #dequantized = new Map<string, string>();

  constructor(plan: StaticPlan, names: Names, scales: ActivationScales) {
    this.#plan = plan;
    this.#names = names;
    this.#scales = scales;
  }

  /** Return the nodes of the quantized graph, with `first` at the start. */
  written(first: readonly NodeProto[]): NodeProto[] {
    const { graph } = this.#plan.model;
    const inputs = graph.inputs.flatMap(({ name }) => this.#pairBehind(name));
    const nodes = graph.nodes
      .filter((node) => !this.#isReplaced(node))
      .flatMap((node) => {
        node.output = node.output.map((name) => this.#renamed(name));
        this.#connect(node);
        const pairs = node.output.flatMap((name, at) => this.#pairAt(node, name, at));
        return [node, ...pairs];
      });
    return [...first, ...inputs, ...nodes];
  }

  #isReplaced({ input, output }: NodeProto): boolean {
    const by = this.#plan.replaced.get(input[0] ?? '');
    return by !== undefined && by === output[0];
  }

  #renamed(name: string): string {
    let last = name;
    for (let next = this.#plan.replaced.get(last); next !== undefined; next = this.#plan.replaced.get(last))
      last = next;
    return last;
  }

  /**
   * Connect a node to the quantized activations that it requested, and to those that a quantized node produces.
   */
  #connect(node: NodeProto): void {
    node.input = node.input.map((name) => {
      const mark = this.#plan.activations.get(name);
      const isTaken = mark?.producer !== undefined || mark?.readers.has(node) === true;
      return isTaken ? (this.#dequantized.get(name) ?? name) : name;
    });
  }

  #pairAt(node: NodeProto, name: string, at: number): NodeProto[] {
    const mark = this.#plan.activations.get(name);
    const scale = mark && this.#scales.of(mark);
    if (mark?.producer === undefined || scale === undefined || !this.#plan.index.isOutput(name))
      return this.#pairBehind(name);
    // An output of the model is the dequantized value under the original name.
    const made = this.#names.make(`${name}_QuantizeLinear_Input`);
    node.output[at] = made;
    return quantizePair(this.#names, [name, made, name], scale);
  }

  #pairBehind(name: string): NodeProto[] {
    const mark = this.#plan.activations.get(name);
    const scale = mark && this.#scales.of(mark);
    if (scale === undefined) return [];
    const float = this.#names.make(`${name}_DequantizeLinear_Output`);
    this.#dequantized.set(name, float);
    return quantizePair(this.#names, [name, name, float], scale);
  }
}
