import type { Names } from '../../model/graph/names.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { Tensor } from '../../model/tensor/tensor.ts';
import { float32Source } from '../../model/tensor/values.ts';
import type { TransformReport } from '../report/report.ts';
import type { OwnedConstant } from './constant-owner.ts';
import { putQuantized, type QuantizedNames, type QuantizedShape } from './put-quantized.ts';
import { scalesOf } from './quantized-values.ts';
import type { Mapping } from './scale.ts';

/** How a weight is to be quantized; `axis` is that of its channels, undefined for one scale. */
export interface WeightForm extends Mapping, QuantizedShape {
  axis: number | undefined;
}

/** Quantizes weights, one that several nodes share only once. */
export class WeightStore {
  readonly #names: Names;
  readonly #report: TransformReport;
  readonly #done = new Map<Tensor, Map<string, QuantizedNames | undefined>>();

  constructor(names: Names, report: TransformReport) {
    this.#names = names;
    this.#report = report;
  }

  /** The names of a float32 constant's quantized form; undefined where it holds values that are not finite. */
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
