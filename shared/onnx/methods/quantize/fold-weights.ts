import { createHash } from 'node:crypto';
import { intAttribute, intsAttribute } from '../../model/graph/attributes.ts';
import { type Graph, isExcluded, Names } from '../../model/graph/graph.ts';
import { removeUnused } from '../../model/graph/remove-unused.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { bitsOf } from '../../model/tensor/data-type.ts';
import { stepsOf, strided, transposed } from '../../model/tensor/strided.ts';
import { elementCount, lazyTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { integersOf } from '../../model/tensor/values.ts';
import { foldTransposes } from './fold-transposes.ts';
import { weightPositions } from './fold-widened.ts';

/**
 * Replace weights that nodes only cut, join, reshape or transpose from constants by constants, control flow bodies
 * included. PyTorch's exporter writes the weights of LSTM in this way. Weights of excluded nodes stay as they are,
 * and so do transposed matrices in `kept`.
 */
export function foldWeights(
  root: Graph,
  exclude: readonly string[],
  kept: ReadonlySet<Tensor> = new Set(),
): void {
  foldTransposes(root, kept);
  foldMoved(root, exclude);
}

/** Do the same, but leave a product with the transpose of a constant, which a table may share. */
export function foldMoved(root: Graph, exclude: readonly string[]): void {
  const moved = new MovedConstants(root);
  for (const graph of root.all()) {
    for (const node of graph.nodes) {
      if (isExcluded(node, exclude)) continue;
      for (const position of weightPositions[node.opType] ?? []) moved.fold(graph, node, position);
    }
  }
  if (moved.count > 0) removeUnused(root);
}

/** Most nodes between a constant and a weight. */
const deepest = 16;

/** Computes what nodes make of constants without changing their values. */
class MovedConstants {
  readonly #root: Graph;
  readonly #names: Names;
  readonly #producers = new Map<Graph, Map<string, NodeProto>>();
  /** Names of folded weights by their values: the branches of an If often move the same ones in the same way. */
  readonly #stored = new Map<string, string>();

  constructor(root: Graph) {
    this.#root = root;
    this.#names = new Names(root);
  }

  /** Number of constants made. */
  get count(): number {
    return this.#stored.size;
  }

  /** Let a node read its float32 weight from a constant, if other nodes only move its values. */
  fold(graph: Graph, node: NodeProto, position: number): void {
    const name = node.input[position] ?? '';
    const made = this.#producer(graph, name);
    if (made === undefined) return;
    const isTransposed = made.node.opType === 'Transpose';
    if (isTransposed && made.owner.initializer(made.node.input[0] ?? '') !== undefined) return;
    const tensor = this.#value(graph, name, 0);
    if (tensor?.type !== 'float') return;
    const key = `${tensor.dims.join()} ${createHash('sha256').update(tensor.bytes()).digest('hex')}`;
    const stored = this.#stored.get(key) ?? this.#names.make(`${name}_folded`);
    if (!this.#stored.has(key)) this.#root.put({ ...tensor, name: stored });
    this.#stored.set(key, stored);
    node.input[position] = stored;
  }

  /** Return the node that makes a value, and its graph: this one or an outer one. */
  #producer(graph: Graph, name: string): { owner: Graph; node: NodeProto } | undefined {
    for (let owner: Graph | undefined = graph; owner !== undefined; owner = owner.parent) {
      if (owner.initializers.has(name) || owner.inputs.some((input) => input.name === name)) return undefined;
      const node = this.#nodesOf(owner).get(name);
      if (node !== undefined) return node.output.length === 1 ? { owner, node } : undefined;
    }
    return undefined;
  }

  #nodesOf(graph: Graph): Map<string, NodeProto> {
    const known = this.#producers.get(graph);
    if (known !== undefined) return known;
    const made = new Map(graph.nodes.flatMap((node) => node.output.map((name) => [name, node] as const)));
    this.#producers.set(graph, made);
    return made;
  }

  #value(graph: Graph, name: string, depth: number): Tensor | undefined {
    if (name === '' || depth > deepest) return undefined;
    const made = this.#producer(graph, name);
    if (made === undefined) return graph.initializer(name);
    const { owner, node } = made;
    const move = node.domain === '' || node.domain === 'ai.onnx' ? moves[node.opType] : undefined;
    if (move === undefined) return undefined;
    const inputs = node.input.map((input) => this.#value(owner, input, depth + 1));
    const [first] = inputs;
    const isMovable = first !== undefined && first.verbatim === undefined && bitsOf(first.type) >= 8;
    return isMovable ? move(node, inputs, first) : undefined;
  }
}

/** Return what a node makes of constants; undefined where it does not only move them. */
type Move = (node: NodeProto, inputs: readonly (Tensor | undefined)[], first: Tensor) => Tensor | undefined;

const reshaped = (tensor: Tensor, dims: readonly number[]): Tensor | undefined =>
  elementCount(dims) === elementCount(tensor.dims) && dims.every((dim) => dim >= 0)
    ? { ...tensor, dims }
    : undefined;

/** Return numbers that a node has as an attribute or, since a later opset, as an input. */
function numbersOf(
  node: NodeProto,
  name: string,
  input: Tensor | undefined,
  at: number,
): number[] | undefined {
  if (input !== undefined) return integersOf(input);
  return node.input[at] ? undefined : intsAttribute(node, name);
}

const unsqueeze: Move = (node, [, axes], first) => {
  const given = numbersOf(node, 'axes', axes, 1);
  if (given === undefined) return undefined;
  const rank = first.dims.length + given.length;
  const added = new Set(given.map((axis) => (axis < 0 ? axis + rank : axis)));
  const rest = [...first.dims];
  const dims = Array.from({ length: rank }, (_, axis) => (added.has(axis) ? 1 : (rest.shift() ?? -1)));
  return reshaped(first, dims);
};

const squeeze: Move = (node, [, axes], first) => {
  const given = numbersOf(node, 'axes', axes, 1);
  if (given === undefined && node.input[1]) return undefined;
  const rank = first.dims.length;
  const gone = new Set(
    given?.map((axis) => (axis < 0 ? axis + rank : axis)) ??
      [...first.dims.keys()].filter((axis) => first.dims[axis] === 1),
  );
  return reshaped(
    first,
    first.dims.filter((_, axis) => !gone.has(axis)),
  );
};

const reshape: Move = (node, [, shape], first) => {
  if (shape === undefined) return undefined;
  const keepsZeros = intAttribute(node, 'allowzero', 0) !== 0;
  const asked = integersOf(shape).map((dim, at) => (dim === 0 && !keepsZeros ? (first.dims[at] ?? -1) : dim));
  const known = elementCount(asked.filter((dim) => dim !== -1));
  return reshaped(
    first,
    asked.map((dim) => (dim === -1 ? elementCount(first.dims) / known : dim)),
  );
};

const flatten: Move = (node, _, first) => {
  const axis = intAttribute(node, 'axis', 1);
  const from = axis < 0 ? axis + first.dims.length : axis;
  return reshaped(first, [elementCount(first.dims.slice(0, from)), elementCount(first.dims.slice(from))]);
};

const transpose: Move = (node, _, first) =>
  transposed(first, intsAttribute(node, 'perm') ?? [...first.dims.keys()].reverse());

const slice: Move = (node, [, starts, ends, axes, steps], first) => {
  const [from, to] = [starts, ends].map((one) => one && integersOf(one));
  if (from === undefined || to === undefined) return undefined;
  if ((node.input[3] && axes === undefined) || (node.input[4] && steps === undefined)) return undefined;
  const over = axes === undefined ? [...from.keys()] : integersOf(axes);
  const dims = [...first.dims];
  const strides = stepsOf(first.dims);
  let start = 0;
  for (const [at, given] of over.entries()) {
    const axis = given < 0 ? given + first.dims.length : given;
    const size = first.dims[axis];
    if (size === undefined || (steps !== undefined && integersOf(steps)[at] !== 1)) return undefined;
    const within = (place: number) => Math.min(size, Math.max(0, place < 0 ? place + size : place));
    const [begin, end] = [within(from[at] ?? 0), within(to[at] ?? 0)];
    dims[axis] = Math.max(0, end - begin);
    start += begin * (strides[axis] ?? 0);
  }
  return strided(first, { dims, steps: strides, start });
};

const concat: Move = (node, inputs, first) => {
  const parts = inputs.filter((input) => input !== undefined);
  if (parts.length !== inputs.length || parts.some(({ type }) => type !== first.type)) return undefined;
  const given = intAttribute(node, 'axis', 0);
  const axis = given < 0 ? given + first.dims.length : given;
  const dims = first.dims.map((dim, at) =>
    at === axis ? parts.reduce((sum, part) => sum + (part.dims[at] ?? 0), 0) : dim,
  );
  const rows = elementCount(dims.slice(0, axis));
  return lazyTensor(first.name, first.type, dims, () => {
    const to = new Uint8Array((elementCount(dims) * bitsOf(first.type)) / 8);
    const from = parts.map((part) => part.bytes());
    let at = 0;
    for (let row = 0; row < rows; row += 1) {
      for (const bytes of from) {
        const length = bytes.length / rows;
        to.set(bytes.subarray(row * length, (row + 1) * length), at);
        at += length;
      }
    }
    return to;
  });
};

const moves: Readonly<Record<string, Move>> = {
  Identity: (_, __, first) => first,
  Unsqueeze: unsqueeze,
  Squeeze: squeeze,
  Reshape: reshape,
  Flatten: flatten,
  Transpose: transpose,
  Slice: slice,
  Concat: concat,
};
