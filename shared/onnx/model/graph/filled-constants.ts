import type { NodeProto } from '../proto/onnx_pb.js';
import { lazyTensor, makeInt64s, type Tensor } from '../tensor/tensor.ts';
import type { Graph } from './graph.ts';
import { makeNode } from './make-node.ts';
import { Names } from './names.ts';

/** Below so many bytes the values of a constant take no more room than the nodes that would make them. */
const minBytes = 1024;

/** The node that makes a constant of one value from its shape. */
function nodeOf({ name, type, fill }: Tensor, shape: string): NodeProto {
  const value = lazyTensor('', type, [1], () => fill?.value ?? new Uint8Array());
  return makeNode('ConstantOfShape', [shape], [name], { attributes: { value: { tensor: value } } });
}

/**
 * Gives constants of one value back to nodes that make them, as in the source: a file then holds no more than it did.
 * What was changed meanwhile is another constant, which holds its values. Returns what undoes it. Bodies included.
 */
export function computeFilled(root: Graph): () => void {
  const undo: (() => void)[] = [];
  const names = new Names(root);
  for (const graph of root.all()) {
    const filled = [...graph.initializers.values()].filter(
      ({ fill, byteLength }) => fill !== undefined && byteLength > minBytes,
    );
    if (filled.length === 0) continue;
    const { nodes } = graph;
    const all = [...graph.initializers];
    for (const { name } of filled) graph.initializers.delete(name);
    const shapes = new Map<string, string>();
    const made = filled.map((tensor) => {
      const dims = tensor.dims.join();
      const shape = shapes.get(dims) ?? names.make(tensor.fill?.shape ?? tensor.name);
      shapes.set(dims, shape);
      graph.put(makeInt64s(shape, tensor.dims));
      return nodeOf(tensor, shape);
    });
    graph.nodes = [...made, ...nodes];
    undo.push(() => {
      graph.nodes = nodes;
      graph.initializers.clear();
      for (const [name, tensor] of all) graph.initializers.set(name, tensor);
    });
  }
  return () => {
    for (const one of undo) one();
  };
}
