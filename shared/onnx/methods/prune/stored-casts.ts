import { intAttribute } from '../../model/graph/attributes.ts';
import { type Graph, makeNode, Names } from '../../model/graph/graph.ts';
import { removeUnused } from '../../model/graph/remove-unused.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { dataTypes } from '../../model/tensor/data-type.ts';
import { lazyTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';

/** A constant in half precision that a Cast widens to float32. */
interface StoredCast {
  node: NodeProto;
  stored: Tensor;
  wide: Tensor;
}

/**
 * Replace constants in half precision that a Cast widens by float32 constants: models are stored so to be small.
 * Return a function that stores them in half precision again, once they were pruned.
 */
export function widenStored(graph: Graph): () => void {
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  const casts = new Map<string, StoredCast>();
  graph.nodes = graph.nodes.filter((node) => {
    const [name = ''] = node.output;
    const stored =
      isWidening(node) && !outputs.has(name) ? graph.initializers.get(node.input[0] ?? '') : undefined;
    if (stored === undefined || (stored.type !== 'float16' && stored.type !== 'bfloat16')) return true;
    const wide = graph.put(lazyTensor(name, 'float', stored.dims, () => floatsOf(stored)));
    casts.set(name, { node, stored, wide });
    return false;
  });
  return () => storeAgain(graph, casts);
}

const isWidening = (node: NodeProto): boolean =>
  node.opType === 'Cast' && node.domain === '' && intAttribute(node, 'to', 0) === dataTypes.float;

function storeAgain(graph: Graph, casts: ReadonlyMap<string, StoredCast>): void {
  const names = new Names(graph);
  const before: NodeProto[] = [];
  for (const [name, { node, stored, wide }] of casts) {
    const now = graph.initializers.get(name);
    if (now === undefined) continue;
    const narrow = now === wide ? stored : narrowed(now, names.make(`${name}_stored`), stored.type);
    graph.initializers.delete(name);
    graph.put(narrow);
    before.push(
      makeNode('Cast', [narrow.name], [name], { name: node.name, attributes: { to: dataTypes.float } }),
    );
  }
  graph.nodes = [...before, ...graph.nodes];
  removeUnused(graph);
}

const narrowed = (tensor: Tensor, name: string, type: Tensor['type']): Tensor =>
  lazyTensor(name, type, tensor.dims, () => {
    const values = floatsOf(tensor);
    return type === 'float16' ? new Float16Array(values) : bfloat16s(values);
  });

/** Round to bfloat16, half to even: the upper half of the bits of float32. */
function bfloat16s(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return Uint16Array.from(bits, (float) => (float + 0x7fff + ((float >>> 16) & 1)) >>> 16);
}
