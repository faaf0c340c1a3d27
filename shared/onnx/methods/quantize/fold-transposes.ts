import { intsAttribute } from '../../model/graph/attributes.ts';
import type { Graph } from '../../model/graph/graph.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount, lazyTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';

/**
 * Replace transposed constant matrices by constants, control flow bodies included. Exporters write the weights of
 * linear layers in this way. Matrices in `kept`, and outputs, stay, because their other users store them as they are.
 */
export function foldTransposes(root: Graph, kept: ReadonlySet<Tensor> = new Set()): void {
  for (const graph of root.all()) {
    const outputs = new Set(graph.outputs.map(({ name }) => name));
    graph.nodes = graph.nodes.filter((node) => {
      const [name = ''] = node.output;
      const isShown = outputs.has(name) || outputs.has(node.input[0] ?? '');
      const matrix = isShown ? undefined : turnedMatrix(graph, node);
      if (matrix === undefined || kept.has(matrix)) return true;
      graph.put(transposed(matrix, name));
      return false;
    });
  }
}

function turnedMatrix(graph: Graph, node: NodeProto): Tensor | undefined {
  const tensor = isSwap(node) ? graph.initializer(node.input[0] ?? '') : undefined;
  return tensor?.type === 'float' && tensor.dims.length === 2 ? tensor : undefined;
}

/** Whether a node swaps the axes of a matrix. Without perm, a Transpose reverses all axes. */
export const isSwap = (node: NodeProto): boolean =>
  node.opType === 'Transpose' &&
  node.domain === '' &&
  (intsAttribute(node, 'perm') ?? [1, 0]).join() === '1,0';

function transposed(matrix: Tensor, name: string): Tensor {
  const [rows = 0, columns = 0] = matrix.dims;
  return lazyTensor(name, 'float', [columns, rows], () => {
    const values = floatsOf(matrix);
    const turned = new Float32Array(values.length);
    for (let row = 0, at = 0; row < rows; row += 1) {
      for (let to = row, column = 0; column < columns; column += 1, at += 1, to += rows) {
        turned[to] = values[at] ?? 0;
      }
    }
    return new Uint8Array(turned.buffer);
  });
}

/** Return dimensions with the last two swapped. */
export const swappedDims = (dims: readonly number[]): number[] => {
  const rank = dims.length;
  return [...dims.slice(0, -2), dims[rank - 1] ?? 1, dims[rank - 2] ?? 1];
};

/** Return bytes (row-major, one byte per value) with the last two dimensions swapped. */
export function swappedBytes(bytes: Uint8Array, dims: readonly number[]): Uint8Array {
  const rows = dims[dims.length - 2] ?? 1;
  const columns = dims[dims.length - 1] ?? 1;
  const matrices = elementCount(dims.slice(0, -2));
  const swapped = new Uint8Array(bytes.length);
  for (let matrix = 0, at = 0; matrix < matrices; matrix += 1) {
    const start = matrix * rows * columns;
    for (let row = 0; row < rows; row += 1) {
      for (let to = start + row, column = 0; column < columns; column += 1, at += 1, to += rows) {
        swapped[to] = bytes[at] ?? 0;
      }
    }
  }
  return swapped;
}
