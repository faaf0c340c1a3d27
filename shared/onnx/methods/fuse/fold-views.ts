import type { Model } from '../../model/file/model.ts';
import { intsAttribute } from '../../model/graph/attributes.ts';
import type { Graph } from '../../model/graph/graph.ts';
import { GraphIndex } from '../../model/graph/graph-index.ts';
import { inferValues } from '../../model/infer/infer-values.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { bitsOf } from '../../model/tensor/data-type.ts';
import { transposed } from '../../model/tensor/strided.ts';
import { elementCount, type Tensor } from '../../model/tensor/tensor.ts';

/**
 * Turn views of a constant into constants (Unsqueeze, Squeeze, Reshape, Flatten, Transpose). Some exporters put
 * such a node before a weight, and the weight would not be found. A constant with other users is not duplicated.
 */
export function foldViews(model: Model): void {
  const { graph } = model;
  const index = new GraphIndex(graph);
  const values = inferValues(model);
  graph.nodes = graph.nodes.filter((node) => {
    const [output = ''] = node.output;
    if (node.domain !== '' || index.isOutput(output) || node.output.length !== 1) return true;
    if (index.soleUse(node.input[0] ?? '') === undefined) return true;
    const view = viewOf(graph, node, values.get(output)?.dims);
    if (view === undefined) return true;
    graph.put(view);
    graph.initializers.delete(node.input[0] ?? '');
    return false;
  });
}

/** Operators that reshape their input and keep the order of its values. */
const reshaping = new Set(['Unsqueeze', 'Squeeze', 'Reshape', 'Flatten']);

function viewOf(graph: Graph, node: NodeProto, dims: readonly unknown[] | undefined): Tensor | undefined {
  const tensor = graph.initializers.get(node.input[0] ?? '');
  const name = node.output[0] ?? '';
  if (tensor === undefined || tensor.verbatim !== undefined || bitsOf(tensor.type) < 8) return undefined;
  if (node.opType === 'Transpose') {
    const perm = intsAttribute(node, 'perm') ?? tensor.dims.map((_, at, all) => all.length - 1 - at);
    return transposed(tensor, perm, name);
  }
  const known = dims?.filter((dim) => typeof dim === 'number');
  if (!reshaping.has(node.opType) || known === undefined || known.length !== dims?.length) return undefined;
  return elementCount(known) === elementCount(tensor.dims) ? { ...tensor, name, dims: known } : undefined;
}
