import { type Graph, makeNode, type Names } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { elementCount, makeTensor, type Tensor } from '../../../model/tensor/tensor.ts';
import { float32Source, floatsOf } from '../../../model/tensor/values.ts';
import type { TransformReport } from '../../report/report.ts';
import { roundHalfEven, type Scales, scalesOf } from '../quantized-values.ts';
import { putQuantized } from '../weight-store.ts';
import { type ActivationScales, activationType, type SharedScale } from './static-nodes.ts';
import type { StaticRequest } from './static-operators.ts';
import type { BiasMark, ConstantMark, StaticPlan } from './static-plan.ts';

/** Adds the quantized constants to the graph, and collects their DequantizeLinear nodes. */
export class ConstantWriter {
  readonly #plan: StaticPlan;
  readonly #names: Names;
  readonly #report: TransformReport;
  readonly #request: StaticRequest;
  /** DequantizeLinear nodes of the constants. */
  readonly nodes: ReturnType<typeof makeNode>[] = [];

  constructor(plan: StaticPlan, names: Names, report: TransformReport, request: StaticRequest) {
    this.#plan = plan;
    this.#names = names;
    this.#report = report;
    this.#request = request;
  }

  /** Quantize the constants that are no weights, and set their scales on the activations that may share them. */
  putOperands(scales: ActivationScales): void {
    for (const mark of this.#plan.constants) {
      if (mark.role === 'operand') scales.set(mark, this.#put(mark, scalesOfMark(mark, this.#request)));
    }
  }

  /** Quantize the weights at scales that leave room for their biases, and then the biases. */
  putWeights(scales: ActivationScales): void {
    const weights = new Map(
      this.#plan.constants
        .filter(({ role }) => role === 'weight')
        .map((mark) => [mark, scalesOfMark(mark, this.#request)] as const),
    );
    const biases = this.#plan.biases.flatMap((mark) => {
      const by = weights.get(mark.weight);
      const activation = scales.of(mark.activation)?.value;
      const values = by && biasValues(mark.tensor, by.scales.length);
      if (by === undefined || activation === undefined || values === undefined) return [];
      // Integers cannot represent NaN: it would become 0.
      if (!values.every(Number.isFinite)) {
        this.#report.keep(mark.tensor.name, 'it contains values that are not finite');
        return [];
      }
      raiseScales(by.scales, activation, values, by.axis !== undefined);
      return [{ mark, by, activation, values }];
    });
    for (const [mark, by] of weights) this.#put(mark, by);
    for (const { mark, by, activation, values } of biases) {
      this.#putBias(mark, quantizedBias(values, activation, by.scales));
    }
  }

  #put({ tensor, axis, readers }: ConstantMark, by: Scales | undefined): SharedScale | undefined {
    const [first] = readers;
    if (by === undefined || first === undefined) {
      this.#report.keep(tensor.name, 'it contains values that are not finite');
      return undefined;
    }
    const constant = { tensor, owner: this.#plan.model.graph };
    const quantizedNames = putQuantized(this.#names, this.#report, { constant, by, node: first.node });
    const { weight, scale, zeroPoint } = quantizedNames;
    const float = this.#dequantize(tensor.name, [weight, scale, zeroPoint], axis);
    for (const { node, position } of readers) node.input[position] = float;
    readInBodies(constant.owner, tensor.name, () =>
      this.#dequantize(tensor.name, [weight, scale, zeroPoint], axis),
    );
    return { scale, zeroPoint, value: by.scales[0] ?? 1 };
  }

  #putBias({ node, position, tensor, weight }: BiasMark, { scales, levels }: QuantizedBias): void {
    const { graph } = this.#plan.model;
    const isPerChannel = weight.axis !== undefined;
    const made = (suffix: string) => this.#names.make(`${tensor.name}_quantized${suffix}`);
    const [name, scale, zeroPoint] = [made(''), made('_scale'), made('_zero_point')];
    const dims = isPerChannel ? [scales.length] : [];
    graph.put(makeTensor(name, 'int32', isPerChannel ? dims : tensor.dims, levels));
    graph.put(makeTensor(scale, 'float', dims, scales));
    graph.put(makeTensor(zeroPoint, 'int32', dims, new Int32Array(scales.length)));
    const axis = isPerChannel ? 0 : undefined;
    node.input[position] = this.#dequantize(tensor.name, [name, scale, zeroPoint], axis);
  }

  #dequantize(name: string, inputs: readonly string[], axis: number | undefined): string {
    const float = this.#names.make(`${name}_DequantizeLinear_Output`);
    const options = {
      name: this.#names.make(`${name}_DequantizeLinear`),
      ...(axis !== undefined && { attributes: { axis } }),
    };
    this.nodes.push(makeNode('DequantizeLinear', inputs, [float], options));
    return float;
  }
}

/**
 * Let bodies of control flow read a quantized constant, too: its float form would make the file larger. They get a
 * DequantizeLinear of their own, because ONNX Runtime fuses those with a single reader.
 */
export function readInBodies(root: Graph, name: string, dequantize: (reader: NodeProto) => string): void {
  const readers = [...root.all()].flatMap((graph) =>
    graph === root ? [] : graph.nodes.filter(({ input }) => input.includes(name)),
  );
  const [first] = readers;
  if (first === undefined) return;
  const float = dequantize(first);
  for (const node of readers) node.input = node.input.map((input) => (input === name ? float : input));
}

/** Return the scales of a constant before the adjustment for its bias. */
function scalesOfMark({ tensor, role, axis }: ConstantMark, request: StaticRequest): Scales | undefined {
  const isWeight = role === 'weight';
  const type = isWeight ? 'int8' : activationType(request);
  const mapping = { type, symmetric: isWeight, reduced: request.reduce_range } as const;
  return scalesOf(float32Source(tensor), tensor.dims, axis, mapping);
}

/**
 * Return the values of a bias, one for each scale. With one scale, return them unchanged. Undefined if the numbers
 * of values and scales do not match.
 */
function biasValues(tensor: Tensor, scales: number): Float32Array | undefined {
  const count = elementCount(tensor.dims);
  if (scales === 1 || count === scales) return floatsOf(tensor);
  return count === 1 ? new Float32Array(scales).fill(floatsOf(tensor)[0] ?? 0) : undefined;
}

/**
 * Raise the scales of a weight if a bias would not fit into int32. The scale of a bias is that of the activation
 * times that of the weight. ONNX Runtime makes the same adjustment.
 */
function raiseScales(
  scales: Float32Array,
  activationScale: number,
  values: Float32Array,
  isPerChannel: boolean,
): void {
  for (const [channel, scale] of scales.entries()) {
    const least = minScale(values, channel, isPerChannel);
    const candidate = activationScale * scale;
    if (candidate > 0 && candidate < least) scales[channel] = scale * (least / candidate);
  }
}

const maxInt32 = 2 ** 31 - 1;

const minInt32 = -(2 ** 31);

/** Safety factor on the smallest scale at which a bias fits into int32 (as in ONNX Runtime's quantizer). */
const margin = 1.0001;

const marginFloat32 = Math.fround(margin);

/**
 * Return the smallest scale for a bias as ONNX Runtime computes it: in double precision only for a single scale.
 */
function minScale(values: Float32Array, channel: number, isPerChannel: boolean): number {
  const range = maxInt32 - (minInt32 + 1);
  if (isPerChannel) {
    return Math.fround(marginFloat32 * Math.fround(2 * Math.abs(values[channel] ?? 0))) / range;
  }
  const magnitude = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return (margin * (2 * magnitude)) / range;
}

/** A bias in int32. */
interface QuantizedBias {
  scales: Float32Array;
  levels: Int32Array;
}

/**
 * Quantize a bias. The scales are products in float32. The levels are divided in double precision, rounded half to
 * even and clipped.
 */
function quantizedBias(
  values: Float32Array,
  activationScale: number,
  weightScales: Float32Array,
): QuantizedBias {
  const scales = weightScales.map((scale) => Math.fround(scale * activationScale));
  const levels = Int32Array.from(values, (value, at) => {
    const level = roundHalfEven(value / (scales[scales.length === 1 ? 0 : at] ?? 1));
    return Math.min(maxInt32, Math.max(minInt32, level));
  });
  return { scales, levels };
}
