import type { Model } from '../../model/file/model.ts';
import { intAttribute } from '../../model/graph/attributes.ts';
import type { ValueType } from '../../model/graph/value-info.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { FedInput } from '../session/stage-task.ts';

/** Rows for a matrix product or a table, and the size of an unspecified dimension. */
const rows = 4;
const openDim = 8;

/** Derive the shape of an operator's other input from its weight, if shape inference fails. */
function dimsByWeight(model: Model, node: NodeProto): number[] | undefined {
  const weight = (position: number) => model.graph.initializers.get(node.input[position] ?? '')?.dims;
  switch (node.opType) {
    case 'MatMul': {
      const k = weight(1)?.at(-2);
      return k === undefined ? undefined : [rows, k];
    }
    case 'Gemm': {
      const k = weight(1)?.[intAttribute(node, 'transB', 0) === 1 ? 1 : 0];
      if (k === undefined) return undefined;
      return intAttribute(node, 'transA', 0) === 1 ? [k, rows] : [rows, k];
    }
    case 'Gather':
      return [rows];
    default:
      return undefined;
  }
}

/** Return the non-constant inputs of a layer that runs separately. Undefined if a type or shape is unknown. */
export function observedInputs(
  model: Model,
  node: NodeProto,
  values: ReadonlyMap<string, ValueType>,
): FedInput[] | undefined {
  const table = model.graph.initializers.get(node.input[0] ?? '');
  const below = node.opType === 'Gather' ? (table?.dims.at(intAttribute(node, 'axis', 0)) ?? 1) : 0;
  const inputs: FedInput[] = [];
  for (const name of new Set(node.input)) {
    if (name === '' || model.graph.initializers.has(name)) continue;
    const value = values.get(name);
    const inferred = value?.dims?.map((dim, axis) =>
      typeof dim === 'number' ? dim : axis === 0 ? 1 : openDim,
    );
    const dims = dimsByWeight(model, node) ?? inferred;
    const type = value?.type ?? (node.opType === 'Gather' ? undefined : 'float');
    if (dims === undefined || type === undefined) return undefined;
    inputs.push({ name, type, declared: null, dims, values: below > 0 ? 'index' : 'normal', below });
  }
  return inputs;
}
