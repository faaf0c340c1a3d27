import type { Graph, Names } from '../../model/graph/graph.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount, lazyTensor, makeTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { float32Source } from '../../model/tensor/values.ts';
import type { TransformReport } from '../report/report.ts';
import { swappedBytes, swappedDims } from './fold-transposes.ts';
import { type Mapping, quantize, type Scales, scalesOf } from './quantized-values.ts';

/** Names of a quantized weight's constants. */
export interface QuantizedNames {
  weight: string;
  scale: string;
  zeroPoint: string;
}

/** A constant and the graph that holds it. */
export interface OwnedConstant {
  owner: Graph;
  tensor: Tensor;
}

/** Shapes of a quantized weight. */
interface QuantizedShape {
  /** Alternative dimensions of the weight with the same number of elements. The channel axis refers to these. */
  viewed?: readonly number[];
  /** Whether the last two dimensions are swapped in the quantized weight. */
  swapped?: boolean;
  /** Dimensions of scales and zero points; by default a vector, or a scalar for one scale. */
  scaleDims?: readonly number[];
}

/** Form of a quantized weight. `axis` is the channel axis; undefined for one scale. */
export interface WeightForm extends Mapping, QuantizedShape {
  axis: number | undefined;
}

/** Quantizes weights. A weight that several nodes share is quantized once. */
export class WeightStore {
  readonly #names: Names;
  readonly #report: TransformReport;
  readonly #done = new Map<Tensor, Map<string, QuantizedNames | undefined>>();

  constructor(names: Names, report: TransformReport) {
    this.#names = names;
    this.#report = report;
  }

  /**
   * Return the names of a float32 constant's quantized form. Undefined if it contains values that are not finite.
   */
  quantized(constant: OwnedConstant, form: WeightForm, node: NodeProto): QuantizedNames | undefined {
    const key = JSON.stringify(form);
    const forms = this.#done.get(constant.tensor) ?? new Map<string, QuantizedNames | undefined>();
    this.#done.set(constant.tensor, forms);
    if (!forms.has(key)) forms.set(key, this.#quantize(constant, form, node));
    return forms.get(key);
  }

  #quantize(constant: OwnedConstant, form: WeightForm, node: NodeProto): QuantizedNames | undefined {
    const { tensor } = constant;
    const by = scalesOf(float32Source(tensor), form.viewed ?? tensor.dims, form.axis, form);
    return by && putQuantized(this.#names, this.#report, { constant, by, node, shape: form });
  }
}

/** A constant to quantize, with its scales and its node. */
interface QuantizedConstant {
  constant: OwnedConstant;
  by: Scales;
  /** The node in the report. */
  node: NodeProto;
  shape?: QuantizedShape;
}

/**
 * Add a constant's quantized form to the graph. It is computed on write, so no weight stays in memory. The report
 * has its error from then on.
 */
export function putQuantized(
  names: Names,
  report: TransformReport,
  { constant: { tensor, owner }, by, node, shape: { viewed, swapped, scaleDims } = {} }: QuantizedConstant,
): QuantizedNames {
  const { name, dims } = tensor;
  const layer = report.addLayer(node, tensor);
  const made = {
    weight: names.make(`${name}_quantized`),
    scale: names.make(`${name}_scale`),
    zeroPoint: names.make(`${name}_zero_point`),
  };
  owner.put(
    lazyTensor(made.weight, by.type, swapped ? swappedDims(dims) : dims, () => {
      const { levels, error, nonzeroBefore, nonzeroAfter } = quantize(
        float32Source(tensor),
        viewed ?? dims,
        by,
      );
      Object.assign(layer, { error, nonzero_before: nonzeroBefore, nonzero_after: nonzeroAfter });
      const bytes = new Uint8Array(levels.buffer);
      return swapped ? swappedBytes(bytes, dims) : bytes;
    }),
  );
  const shape = scaleDims ?? (by.axis === undefined ? [] : [by.scales.length]);
  owner.put(makeTensor(made.scale, 'float', shape, by.scales));
  owner.put(makeTensor(made.zeroPoint, by.type, shape, by.zeroPoints));
  return made;
}

/** Return the constant of a name in a graph, with the graph that holds it: this one or an outer one. */
export function ownedConstant(graph: Graph, name: string | undefined): OwnedConstant | undefined {
  if (!name) return undefined;
  for (let owner: Graph | undefined = graph; owner !== undefined; owner = owner.parent) {
    const tensor = owner.initializers.get(name);
    if (tensor !== undefined) return { owner, tensor };
  }
  return undefined;
}

/** Whether a constant can be quantized: float32, with at least one element. */
export const isQuantizable = ({ type, dims }: Tensor): boolean => type === 'float' && elementCount(dims) > 0;
