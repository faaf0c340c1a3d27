import { create } from '@bufbuild/protobuf';
import { Model } from '../../model/file/model.ts';
import { Graph } from '../../model/graph/graph.ts';
import { GraphIndex } from '../../model/graph/graph-index.ts';
import { valueInfoOf } from '../../model/graph/value-info.ts';
import { GraphProtoSchema, type NodeProto } from '../../model/proto/onnx_pb.js';
import type { DataTypeName } from '../../model/tensor/data-type.ts';

/** Maximum number of nodes of one transformed layer. */
const maxNodes = 64;

/** An input of a slice. */
export interface SliceInput {
  name: string;
  type: DataTypeName;
  dims: readonly number[];
}

/**
 * Return the nodes between the inputs and an output in graph order; undefined if the output needs other inputs.
 */
function nodesBetween(index: GraphIndex, graph: Graph, inputs: ReadonlySet<string>, output: string) {
  const found = new Set<NodeProto>();
  const wanted = [output];
  for (const name of wanted) {
    if (name === '' || inputs.has(name) || graph.initializers.has(name)) continue;
    const node = index.producer(name);
    if (node === undefined || graph.bodiesOf(node).length > 0) return undefined;
    if (found.has(node)) continue;
    found.add(node);
    for (const input of node.input) wanted.push(input);
    if (found.size > maxNodes) return undefined;
  }
  return graph.nodes.filter((node) => found.has(node));
}

/**
 * Extract the part of a model between some values and an output, with its constants. Undefined if the output
 * depends on other values.
 */
export function sliceLayer(model: Model, inputs: readonly SliceInput[], output: string): Model | undefined {
  const { graph, external, proto } = model;
  const names = new Set(inputs.map(({ name }) => name));
  const nodes = nodesBetween(new GraphIndex(graph), graph, names, output);
  if (nodes === undefined || nodes.length === 0) return undefined;
  const slice = new Graph(
    create(GraphProtoSchema, {
      name: 'layer',
      node: nodes,
      input: inputs.map(valueInfoOf),
      output: [valueInfoOf({ name: output, type: 'float', dims: undefined })],
    }),
    external,
  );
  for (const name of nodes.flatMap(({ input }) => input)) {
    const tensor = graph.initializers.get(name);
    if (tensor !== undefined) slice.put(tensor);
  }
  return new Model(proto, slice, external);
}
