import { intAttribute } from '../../model/graph/attributes.ts';
import { type Graph, isExcluded, Names } from '../../model/graph/graph.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { type DataTypeName, dataTypes } from '../../model/tensor/data-type.ts';
import { elementCount, lazyTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf, isFloatTensor } from '../../model/tensor/values.ts';
import { MovedConstants, movedConstant } from './moved-constant.ts';

/** Input positions of weights and biases. */
export const weightPositions: Readonly<Record<string, readonly number[]>> = {
  Conv: [1, 2],
  ConvTranspose: [1, 2],
  Gemm: [1, 2],
  MatMul: [0, 1],
  Gather: [0],
  LSTM: [1, 2, 3],
  GRU: [1, 2, 3],
  RNN: [1, 2, 3],
};

/** Operators that only move values. */
export const moving: ReadonlySet<string> = new Set([
  ...['Identity', 'Unsqueeze', 'Squeeze', 'Reshape', 'Flatten', 'Transpose'],
]);

/** Operators of a model whose activations are in 8 bits already. */
const quantizing: ReadonlySet<string> = new Set([
  ...['QuantizeLinear', 'DynamicQuantizeLinear', 'MatMulInteger', 'ConvInteger'],
  ...['QLinearMatMul', 'QLinearConv', 'DynamicQuantizeLSTM', 'DynamicQuantizeMatMul', 'QAttention', 'QGemm'],
]);

/** Whether activations of a model are in 8 bits already. */
const hasQuantizedActivations = (root: Graph): boolean =>
  [...root.all()].some(({ nodes }) => nodes.some(({ opType }) => quantizing.has(opType)));

/**
 * Replace the values that a Cast or DequantizeLinear makes of a constant by constants, if nothing but the weights of
 * `operators` uses them. Control flow bodies are included. Models are stored so to be small, or computed in half
 * precision; the method then stores these weights in its own form. `graphs` are those that the method changes;
 * `takes` says which weights it has a form for, by their dimensions where they are used. A model with quantized
 * activations stays as it is.
 */
export function foldWidened(
  root: Graph,
  exclude: readonly string[],
  operators: readonly string[],
  graphs: Iterable<Graph> = root.all(),
  takes: (node: NodeProto, dims: readonly number[]) => boolean = () => true,
): void {
  castFirst(root, exclude, (node, dims) => operators.includes('Gather') && takes(node, dims));
  const uses = usesIn(root);
  const moved = new MovedConstants();
  const made = new Map<string, string>();
  const isQuantized = hasQuantizedActivations(root);
  const isForWeights = (weight: Tensor, name: string): boolean => {
    const found = uses.get(name) ?? [];
    return found.every((use) => {
      if (use === 'output') return false;
      const { graph, node, position } = use;
      if (moving.has(node.opType) && position === 0) {
        const moved = movedConstant(node, [
          weight,
          ...node.input.slice(1).map((input) => graph.initializer(input)),
        ]);
        return moved !== undefined && isForWeights(moved, node.output[0] ?? '');
      }
      const isWeight = operators.includes(node.opType) && weightPositions[node.opType]?.includes(position);
      return isWeight === true && !isExcluded(node, exclude) && takes(node, weight.dims);
    });
  };
  for (const graph of graphs) {
    graph.nodes = graph.nodes.filter((node) => {
      const [name = ''] = node.output;
      const widen =
        node.domain === '' && !(isQuantized && node.opType !== 'Cast') ? widenings[node.opType] : undefined;
      if (widen === undefined || isExcluded(node, exclude)) return true;
      const inputs = node.input.map((input) => moved.value(graph, input));
      const [first] = inputs;
      const weight = first && widen(node, inputs, first);
      if (weight === undefined || !isForWeights(weight, name)) return true;
      const key = [node.opType, weight.type, ...node.input, ...node.attribute.map(({ i }) => i)].join();
      const same = made.get(key);
      if (same === undefined || graph.initializer(same) === undefined) {
        graph.put({ ...weight, name });
        made.set(key, name);
      } else
        for (const use of uses.get(name) ?? []) if (use !== 'output') use.node.input[use.position] = same;
      return false;
    });
  }
}

/**
 * Let a Cast come before the nodes that only move or look up the constant that it takes, so that all Casts of a constant
 * make the same one. A lookup is passed if the method has a form for its table.
 */
function castFirst(
  root: Graph,
  exclude: readonly string[],
  takesTable: (lookup: NodeProto, dims: readonly number[]) => boolean,
): void {
  const names = new Names(root);
  const uses = usesIn(root);
  for (const graph of root.all()) {
    const producers = new Map(
      graph.nodes.flatMap((node) => node.output.map((name) => [name, node] as const)),
    );
    for (const cast of graph.nodes.filter((node) => node.opType === 'Cast' && !isExcluded(node, exclude))) {
      const passed: NodeProto[] = [];
      for (let [name = ''] = cast.input; producers.has(name); ) {
        const node = producers.get(name);
        const isMoved = node !== undefined && (moving.has(node.opType) || node.opType === 'Gather');
        if (!isMoved || isExcluded(node, exclude) || (uses.get(name) ?? []).length !== 1) break;
        passed.push(node);
        [name = ''] = node.input;
      }
      const top = passed.at(-1);
      const constant = top && graph.initializer(top.input[0] ?? '');
      if (top === undefined || constant === undefined || !isFloatTensor(constant)) continue;
      if (
        passed.some((node) => node.opType === 'Gather' && !(node === top && takesTable(node, constant.dims)))
      )
        continue;
      const [result = ''] = cast.output;
      const made = passed.map((_, at) => (at === 0 ? result : names.make(`${result}_moved`)));
      const wide = names.make(`${constant.name}_cast`);
      [cast.input, cast.output] = [[constant.name], [wide]];
      for (const [at, node] of passed.entries()) {
        node.input[0] = made[at + 1] ?? wide;
        node.output[0] = made[at] ?? result;
      }
      graph.nodes = graph.nodes
        .filter((node) => node !== cast)
        .flatMap((node) => (node === top ? [cast, node] : [node]));
    }
  }
}

/** A use of a value: by an input of a node, or as an output of a graph. */
type WidenedUse = { graph: Graph; node: NodeProto; position: number } | 'output';

/** Return the uses of each value. A body may use the values of outer graphs, and hides none of their names. */
export function usesIn(root: Graph): Map<string, WidenedUse[]> {
  const uses = new Map<string, WidenedUse[]>();
  const add = (name: string, use: WidenedUse): void => {
    const known = uses.get(name);
    if (known === undefined) uses.set(name, [use]);
    else known.push(use);
  };
  for (const graph of root.all()) {
    for (const node of graph.nodes)
      for (const [position, name] of node.input.entries()) add(name, { graph, node, position });
    for (const { name } of graph.outputs) add(name, 'output');
  }
  return uses;
}

/** Return the float constant that a node makes of constants; undefined if it makes another. */
type Widen = (node: NodeProto, inputs: readonly (Tensor | undefined)[], first: Tensor) => Tensor | undefined;

const cast: Widen = (node, _, first) => {
  const to = intAttribute(node, 'to', 0);
  if (!isFloatTensor(first) || first.verbatim !== undefined) return undefined;
  if (to === dataTypes.float) return lazyTensor(first.name, 'float', first.dims, () => floatsOf(first));
  // A model that computes in half precision may cast its float32 weights each time that it runs.
  return to === dataTypes.float16
    ? lazyTensor(first.name, 'float16', first.dims, () => new Float16Array(floatsOf(first)))
    : undefined;
};

/** First axis of DequantizeLinear. */
const usualAxis = 1;

const dequantize: Widen = (node, [, scale, zeroPoint], first) => {
  const levelsOf = levels[first.type];
  if (levelsOf === undefined || scale?.type !== 'float' || !isFloatTensor(scale)) return undefined;
  if (node.input[2] && (zeroPoint === undefined || levels[zeroPoint.type] === undefined)) return undefined;
  const { dims } = first;
  const given = intAttribute(node, 'axis', usualAxis);
  const axis = given < 0 ? given + dims.length : given;
  const size = dims[axis] ?? 1;
  const block = intAttribute(node, 'block_size', 0);
  const isBlocked = block > 0 && scale.dims.length === dims.length;
  const scales = elementCount(scale.dims);
  const blocks = Math.ceil(size / Math.max(1, block));
  const inner = elementCount(dims.slice(axis + 1));
  const expected = isBlocked ? (elementCount(dims) / size) * blocks : scales === 1 ? 1 : size;
  if (scales !== expected) return undefined;
  return lazyTensor(first.name, 'float', dims, () => {
    const from = levelsOf(first.bytes(), elementCount(dims));
    const by = floatsOf(scale);
    const zeros = zeroPoint && levels[zeroPoint.type]?.(zeroPoint.bytes(), scales);
    const values = new Float32Array(from.length);
    const outer = elementCount(dims.slice(0, axis));
    for (let before = 0, at = 0; before < outer; before += 1) {
      for (let channel = 0; channel < size; channel += 1) {
        const row = isBlocked ? (before * blocks + Math.floor(channel / block)) * inner : channel;
        for (let after = 0; after < inner; after += 1, at += 1) {
          const place = scales === 1 ? 0 : isBlocked ? row + after : row;
          values[at] = ((from[at] ?? 0) - (zeros?.[place] ?? 0)) * (by[place] ?? 0);
        }
      }
    }
    return values;
  });
};

type Levels = (bytes: Uint8Array, count: number) => ArrayLike<number>;

/** Return levels of half a byte, the lower half first. */
const nibbles =
  (isSigned: boolean): Levels =>
  (bytes, count) =>
    Int8Array.from({ length: count }, (_, at) => {
      const level = ((bytes[at >> 1] ?? 0) >> (4 * (at & 1))) & 15;
      return isSigned && level > 7 ? level - 16 : level;
    });

/** Readers of quantized values. */
const levels: Readonly<Partial<Record<DataTypeName, Levels>>> = {
  int8: ({ buffer, byteOffset, byteLength }) => new Int8Array(buffer, byteOffset, byteLength),
  uint8: (bytes) => bytes,
  int16: (bytes) => new Int16Array(new Uint8Array(bytes).buffer),
  uint16: (bytes) => new Uint16Array(new Uint8Array(bytes).buffer),
  int4: nibbles(true),
  uint4: nibbles(false),
};

const widenings: Readonly<Record<string, Widen>> = { Cast: cast, DequantizeLinear: dequantize };
