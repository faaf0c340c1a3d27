import type { Names } from '../../../model/graph/graph.ts';
import { makeNode } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { makeTensor } from '../../../model/tensor/tensor.ts';
import type { Range } from '../../calibrate/ranges.ts';
import { type IntegerType, integers, scaleOf } from '../quantized-values.ts';
import type { StaticRequest } from './static-operators.ts';
import type { ActivationMark, ConstantMark, StaticPlan } from './static-plan.ts';

/** Return the nodes of a planned graph with pairs of QuantizeLinear and DequantizeLinear around them. */
export function staticNodes(plan: StaticPlan, names: Names, scales: ActivationScales): NodeProto[] {
  const { activations, index, model, replaced } = plan;
  /** Dequantized value that replaces an activation as an input, by the activation's name. */
  const dequantized = new Map<string, string>();
  const renamed = (name: string): string => {
    let last = name;
    for (let next = replaced.get(last); next !== undefined; next = replaced.get(last)) last = next;
    return last;
  };
  const pairBehind = (name: string): NodeProto[] => {
    const mark = activations.get(name);
    const scale = mark && scales.of(mark);
    if (scale === undefined) return [];
    const float = names.make(`${name}_DequantizeLinear_Output`);
    dequantized.set(name, float);
    return quantizePair(names, [name, name, float], scale);
  };
  const pairAt = (node: NodeProto, name: string, at: number): NodeProto[] => {
    const mark = activations.get(name);
    const scale = mark && scales.of(mark);
    if (mark?.producer === undefined || scale === undefined || !index.isOutput(name)) return pairBehind(name);
    // An output of the model is the dequantized value under the original name.
    const made = names.make(`${name}_QuantizeLinear_Input`);
    node.output[at] = made;
    return quantizePair(names, [name, made, name], scale);
  };
  const inputs = model.graph.inputs.flatMap(({ name }) => pairBehind(name));
  const nodes = model.graph.nodes.flatMap((node) => {
    const by = replaced.get(node.input[0] ?? '');
    if (by !== undefined && by === node.output[0]) return [];
    node.output = node.output.map(renamed);
    // It reads the quantized activations that it requested, and those that a quantized node produces.
    node.input = node.input.map((name) => {
      const mark = activations.get(name);
      const isTaken = mark?.producer !== undefined || mark?.readers.has(node) === true;
      return isTaken ? (dequantized.get(name) ?? name) : name;
    });
    const pairs = node.output.flatMap((name, at) => pairAt(node, name, at));
    return [node, ...pairs];
  });
  return [...inputs, ...nodes];
}

/** A scale that values share: its value and the names of its constants. */
export interface SharedScale {
  scale: string;
  zeroPoint: string;
  /** Value of the scale. With several channels, that of the first one. */
  value: number;
}

/** Return the type of quantized activations and of constants that are no weights. */
export const activationType = ({ quant_type }: StaticRequest): IntegerType =>
  quant_type === 'uint8' ? 'uint8' : 'int8';

/** The scales of activations. Values that are only moved keep the same scale. */
export class ActivationScales {
  readonly #plan: StaticPlan;
  readonly #names: Names;
  readonly #request: StaticRequest;
  readonly #ranges: ReadonlyMap<string, Range>;
  readonly #made = new Map<ActivationMark | ConstantMark, SharedScale | undefined>();

  constructor(plan: StaticPlan, names: Names, request: StaticRequest, ranges: ReadonlyMap<string, Range>) {
    this.#plan = plan;
    this.#names = names;
    this.#request = request;
    this.#ranges = ranges;
  }

  /** Set the scale of a constant. Moved values may share it. */
  set(mark: ConstantMark, scale: SharedScale | undefined): void {
    this.#made.set(mark, scale);
  }

  /**
   * Return the scale of an activation. The first call adds it to the graph. Undefined if the activation has no
   * range.
   */
  of(mark: ActivationMark): SharedScale | undefined {
    const owner = ownerOf(mark);
    if (!this.#made.has(owner) && 'name' in owner) this.#made.set(owner, this.#make(owner.name));
    return this.#made.get(owner);
  }

  #make(name: string): SharedScale | undefined {
    const range = this.#ranges.get(name);
    if (range === undefined) return undefined;
    const type = activationType(this.#request);
    const { scale, zeroPoint } = scaleOf(range.min, range.max, { type, symmetric: false, reduced: false });
    const made = {
      scale: this.#names.make(`${name}_scale`),
      zeroPoint: this.#names.make(`${name}_zero_point`),
      value: scale,
    };
    const { graph } = this.#plan.model;
    graph.put(makeTensor(made.scale, 'float', [], Float32Array.of(scale)));
    graph.put(makeTensor(made.zeroPoint, type, [], integers(type, 1).fill(zeroPoint)));
    return made;
  }
}

/** Return the mark whose scale an activation uses: its own, or that of the value that it was moved from. */
function ownerOf(mark: ActivationMark): ActivationMark | ConstantMark {
  let owner: ActivationMark | ConstantMark = mark;
  while ('name' in owner && owner.sharedWith !== undefined) owner = owner.sharedWith;
  return owner;
}

/** Create QuantizeLinear and DequantizeLinear of a value. */
function quantizePair(
  names: Names,
  [name, from, to]: readonly [name: string, from: string, to: string],
  { scale, zeroPoint }: SharedScale,
): NodeProto[] {
  const quantized = names.make(`${name}_QuantizeLinear_Output`);
  return [
    makeNode('QuantizeLinear', [from, scale, zeroPoint], [quantized], {
      name: names.make(`${name}_QuantizeLinear`),
    }),
    makeNode('DequantizeLinear', [quantized, scale, zeroPoint], [to], {
      name: names.make(`${name}_DequantizeLinear`),
    }),
  ];
}
