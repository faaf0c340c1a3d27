import { bitsOf } from '../../model/tensor/data-type.ts';
import { elementCount, lazyTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';
import type { LayerChange } from '../report/report.ts';
import { layerName } from './outcome.ts';
import type { PrunableWeight } from './prunable-weights.ts';

/** Return the mask of the values of a weight that become zero: 1 for zeroed, by index. */
export type Mask = (values: Float32Array) => Uint8Array;

/** Return the tensor with the masked values zeroed. Each read computes it from the source. */
export function zeroedTensor(tensor: Tensor, mask: Mask): Tensor {
  return lazyTensor(tensor.name, tensor.type, tensor.dims, () => {
    const source = tensor.bytes();
    const gone = mask(floatsOf({ ...tensor, bytes: () => source }));
    const bytes = new Uint8Array(source);
    const width = bitsOf(tensor.type) / 8;
    if (width === 4) {
      const values = new Uint32Array(bytes.buffer);
      for (let at = 0; at < gone.length; at += 1) if (gone[at] === 1) values[at] = 0;
    } else {
      for (let at = 0; at < gone.length; at += 1)
        if (gone[at] === 1) bytes.fill(0, at * width, (at + 1) * width);
    }
    return bytes;
  });
}

/** Describe the effect of zeroing the masked values on a layer. */
export function zeroingOf({ tensor, node }: PrunableWeight, mask: Mask): LayerChange {
  const values = floatsOf(tensor);
  const gone = mask(values);
  let [before, after, lost, total] = [0, 0, 0, 0];
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? 0;
    if (value === 0) continue;
    before += 1;
    total += value * value;
    if (gone[at] === 1) lost += value * value;
    else after += 1;
  }
  const parameters = elementCount(tensor.dims);
  return {
    layer: layerName(node),
    operator: node.opType,
    weight: tensor.name,
    parameters_before: parameters,
    parameters_after: parameters,
    nonzero_before: before,
    nonzero_after: after,
    error: total === 0 ? 0 : Math.sqrt(lost / total),
  };
}
