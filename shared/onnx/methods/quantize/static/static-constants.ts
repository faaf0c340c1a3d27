import type { Names } from '../../../model/graph/graph.ts';
import { makeNode } from '../../../model/graph/graph.ts';
import { makeTensor } from '../../../model/tensor/tensor.ts';
import { float32Source } from '../../../model/tensor/values.ts';
import type { TransformReport } from '../../report/report.ts';
import { type Scales, scalesOf } from '../quantized-values.ts';
import { putQuantized } from '../weight-store.ts';
import { biasValues, type QuantizedBias, quantizedBias, raiseScales } from './bias-scale.ts';
import { type ActivationScales, activationType, type SharedScale } from './static-activations.ts';
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
    const made = putQuantized(this.#names, this.#report, { constant, by, node: first.node });
    const { weight, scale, zeroPoint } = made;
    const float = this.#dequantize(tensor.name, [weight, scale, zeroPoint], axis);
    for (const { node, position } of readers) node.input[position] = float;
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

/** Return the scales of a constant before the adjustment for its bias. */
function scalesOfMark({ tensor, role, axis }: ConstantMark, request: StaticRequest): Scales | undefined {
  const isWeight = role === 'weight';
  const type = isWeight ? 'int8' : activationType(request);
  const mapping = { type, symmetric: isWeight, reduced: request.reduce_range } as const;
  return scalesOf(float32Source(tensor), tensor.dims, axis, mapping);
}
