import { create } from '@bufbuild/protobuf';
import { ModelError } from '../model-error.ts';
import { AttributeProto_AttributeType, AttributeProtoSchema, type NodeProto } from '../proto/onnx_pb.js';
import type { ExternalData } from '../tensor/external-data.ts';
import { isSparse, readSparse, sparseMessage } from '../tensor/read-sparse.ts';
import {
  elementCount,
  filledTensor,
  lazyTensor,
  makeInt64s,
  makeTensor,
  type Tensor,
} from '../tensor/tensor.ts';
import { integersOf } from '../tensor/values.ts';
import { floatAttribute, hasAttribute, intAttribute, intsAttribute, tensorAttribute } from './attributes.ts';
import { type Graph, makeNode, Names, namesOf } from './graph.ts';

/**
 * Convert every Constant and ConstantOfShape node of known value into an initializer, and bypass Identity nodes of
 * constants. Every weight is then an initializer, regardless of its origin, and is stored once. Outputs keep their
 * names. Includes bodies.
 */
export function hoistConstants(root: Graph, external: ExternalData): void {
  const aliases = new Map<string, string>();
  const graphs = [...root.all()];
  const outputs = new Set(graphs.flatMap((graph) => graph.outputs.map(({ name }) => name)));
  for (const graph of graphs) {
    graph.nodes = graph.nodes.filter((node) => {
      const name = node.output[0] ?? '';
      node.input = node.input.map((input) => aliases.get(input) ?? input);
      if (outputs.has(name) || node.domain !== '') return true;
      const [input = ''] = node.input;
      if (node.opType === 'Identity' && isNumeric(graph.initializer(input))) aliases.set(name, input);
      else {
        const value = knownValue(graph, node, external);
        if (value === undefined) return true;
        graph.put(value);
      }
      for (const one of namesOf(node)) graph.hoisted.add(one);
      return false;
    });
  }
}

const isNumeric = (tensor: Tensor | undefined): boolean => tensor !== undefined && tensor.type !== 'string';

function knownValue(graph: Graph, node: NodeProto, external: ExternalData): Tensor | undefined {
  if (node.opType === 'Constant') return constantValue(node, external);
  if (node.opType !== 'ConstantOfShape') return undefined;
  const of = graph.initializer(node.input[0] ?? '');
  return of === undefined || of.type === 'string' ? undefined : filledValue(node, of, external);
}

/** Return the value of a Constant node; undefined for a form without numbers. */
function constantValue(node: NodeProto, external: ExternalData): Tensor | undefined {
  const name = node.output[0] ?? '';
  const tensor = tensorAttribute(node, 'value', external);
  if (tensor !== undefined) return tensor.type === 'string' ? undefined : { ...tensor, name };
  const sparse = node.attribute.find((attribute) => attribute.name === 'sparse_value')?.sparseTensor;
  if (sparse !== undefined) return { ...readSparse(sparse, external), name };
  if (hasAttribute(node, 'value_float')) {
    return makeTensor(name, 'float', [], Float32Array.of(floatAttribute(node, 'value_float', 0)));
  }
  if (hasAttribute(node, 'value_int')) {
    return makeTensor(name, 'int64', [], BigInt64Array.of(BigInt(intAttribute(node, 'value_int', 0))));
  }
  const ints = intsAttribute(node, 'value_ints');
  if (ints !== undefined && hasAttribute(node, 'value_ints')) {
    return makeTensor(name, 'int64', [ints.length], BigInt64Array.from(ints, BigInt));
  }
  const floats = node.attribute.find((attribute) => attribute.name === 'value_floats')?.floats;
  return floats && makeTensor(name, 'float', [floats.length], Float32Array.from(floats));
}

/** Maximum bytes of one node's constant. Same as the limit of a model file. */
const maxFilled = 2 ** 31 - 1;

/** Return the value of a ConstantOfShape node with a constant shape. Weights of test models are made this way. */
function filledValue(node: NodeProto, shape: Tensor, external: ExternalData): Tensor {
  const dims = integersOf(shape);
  const value = tensorAttribute(node, 'value', external);
  const type = value?.type ?? 'float';
  const unit = value?.bytes() ?? new Uint8Array(4);
  const length = elementCount(dims) * unit.length;
  const what = `The ConstantOfShape ${JSON.stringify(node.name || node.output[0])} makes a constant of [${dims.join(', ')}]`;
  if (dims.some((dim) => !Number.isSafeInteger(dim) || dim < 0))
    throw new ModelError(`${what}, which are impossible dimensions.`);
  if (length > maxFilled)
    throw new ModelError(`${what}, ${length} bytes; a constant may have at most ${maxFilled}.`);
  const filled = lazyTensor(node.output[0] ?? '', type, dims, () => {
    const bytes = room(length, what);
    for (let at = 0; at < bytes.length; at += unit.length) bytes.set(unit, at);
    return bytes;
  });
  return filledTensor(filled, unit, shape.name);
}

/** Allocate memory of a size from a model. */
function room(length: number, what: string): Uint8Array {
  try {
    return new Uint8Array(length);
  } catch {
    throw new ModelError(`${what}, ${length} bytes, more than the available memory.`);
  }
}

/** Below this many bytes a constant's values take no more space than the nodes that would compute them. */
const minBytes = 1024;

/** First opset of sparse Constant nodes. */
const minOpsetSparse = 11;

/**
 * Replace constants of a single value by nodes that compute them, and sparse ones by Constant nodes, so the file does not
 * grow. ONNX's checker knows no types of sparse initializers. A changed constant keeps its values. Return a function that
 * undoes the replacement. Includes bodies.
 */
export function computeFilled(root: Graph, opset: number): () => void {
  const undo: (() => void)[] = [];
  const names = new Names(root);
  for (const graph of root.all()) {
    const filled = [...graph.initializers.values()].filter((tensor) =>
      tensor.fill === undefined
        ? opset >= minOpsetSparse && !graph.isDefault(tensor.name) && isSparse(tensor)
        : tensor.byteLength > minBytes,
    );
    if (filled.length === 0) continue;
    const { nodes } = graph;
    const all = [...graph.initializers];
    for (const { name } of filled) graph.initializers.delete(name);
    const shapes = new Map<string, string>();
    const made = filled.map((tensor) => {
      if (tensor.fill === undefined) return sparseNode(tensor);
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

/** Create the Constant node of a sparse constant. */
function sparseNode(tensor: Tensor): NodeProto {
  const node = makeNode('Constant', [], [tensor.name]);
  node.attribute.push(
    create(AttributeProtoSchema, {
      ...{ name: 'sparse_value', type: AttributeProto_AttributeType.SPARSE_TENSOR },
      sparseTensor: sparseMessage(tensor),
    }),
  );
  return node;
}

/** Create the node that computes a single-value constant from its shape. */
function nodeOf({ name, type, fill }: Tensor, shape: string): NodeProto {
  const value = lazyTensor('', type, [1], () => fill?.value ?? new Uint8Array());
  return makeNode('ConstantOfShape', [shape], [name], { attributes: { value: { tensor: value } } });
}
