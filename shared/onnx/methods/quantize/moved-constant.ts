import { intAttribute, intsAttribute } from '../../model/graph/attributes.ts';
import type { Graph } from '../../model/graph/graph.ts';
import { computedConstant } from '../../model/infer/computed-constant.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { bitsOf } from '../../model/tensor/data-type.ts';
import { stepsOf, strided, transposed } from '../../model/tensor/strided.ts';
import { elementCount, lazyTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { integersOf } from '../../model/tensor/values.ts';

/**
 * Return the constant that a node makes of constants, as one of its outputs, by moving their values; undefined where it
 * does more than that. The values are moved when they are read.
 */
export function movedConstant(
  node: NodeProto,
  inputs: readonly (Tensor | undefined)[],
  output = node.output[0] ?? '',
): Tensor | undefined {
  const move = node.domain === '' ? moves[node.opType] : undefined;
  const [first] = inputs;
  const isMovable = first !== undefined && first.verbatim === undefined && bitsOf(first.type) >= 8;
  return isMovable ? move?.(node, inputs, first, node.output.indexOf(output)) : undefined;
}

/** Most nodes between a constant and what they make of it. */
const deepest = 16;

/** Computes what nodes of a model make of constants. */
export class MovedConstants {
  readonly #producers = new Map<Graph, Map<string, NodeProto>>();

  /** Return the node that makes a value, and its graph: this one or an outer one. */
  producer(graph: Graph, name: string): { owner: Graph; node: NodeProto } | undefined {
    for (let owner: Graph | undefined = graph; owner !== undefined; owner = owner.parent) {
      if (owner.initializers.has(name) || owner.inputs.some((input) => input.name === name)) return undefined;
      const node = this.#nodesOf(owner).get(name);
      if (node !== undefined) return { owner, node };
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

  /** Add the nodes and constants that a value is made of. */
  collect(graph: Graph, name: string, making: Making): void {
    const maker = this.producer(graph, name);
    if (maker === undefined) making.constants.add(name);
    else if (!making.nodes.has(maker.node)) {
      making.nodes.add(maker.node);
      for (const input of maker.node.input) this.collect(maker.owner, input, making);
    }
  }

  /** Return a constant, or what nodes make of constants; undefined if it is neither. */
  value(graph: Graph, name: string, depth = 0): Tensor | undefined {
    if (name === '' || depth > deepest) return undefined;
    const made = this.producer(graph, name);
    if (made === undefined) return graph.initializer(name);
    const { owner, node } = made;
    const inputs = node.input.map((input) => this.value(owner, input, depth + 1));
    return movedConstant(node, inputs, name) ?? computedConstant(node, inputs);
  }
}

/** Nodes that make a value of constants. */
export interface Making {
  nodes: Set<NodeProto>;
  constants: Set<string>;
}

/** Return the output `at` of a node that moves constants; undefined where it does not only move them. */
type Move = (
  node: NodeProto,
  inputs: readonly (Tensor | undefined)[],
  first: Tensor,
  at: number,
) => Tensor | undefined;

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
  const axis = axisOf(node, first);
  if (first.dims[axis] === undefined) return undefined;
  const dims = first.dims.with(
    axis,
    parts.reduce((sum, part) => sum + (part.dims[axis] ?? 0), 0),
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

/** Return the axis that a node's attribute names. */
function axisOf(node: NodeProto, { dims }: Tensor): number {
  const axis = intAttribute(node, 'axis', 0);
  return axis < 0 ? axis + dims.length : axis;
}

const split: Move = (node, [, sizes], first, at) => {
  const axis = axisOf(node, first);
  const size = first.dims[axis] ?? 0;
  const even = Math.ceil(size / node.output.length);
  const parts = numbersOf(node, 'split', sizes, 1) ?? (node.input[1] ? [] : node.output.map(() => even));
  const before = parts.slice(0, at).reduce((sum, part) => sum + part, 0);
  const length = Math.min(parts[at] ?? 0, size - before);
  if (!(length > 0)) return undefined;
  const steps = stepsOf(first.dims);
  return strided(first, {
    dims: first.dims.with(axis, length),
    ...{ steps, start: before * (steps[axis] ?? 0) },
  });
};

/** A lookup with a constant index, such as of one matrix among several. */
const gather: Move = (node, [, indices], first) => {
  const [index, ...more] = indices === undefined ? [] : integersOf(indices);
  const axis = axisOf(node, first);
  const size = first.dims[axis] ?? 0;
  if (indices === undefined || index === undefined || more.length > 0) return undefined;
  if (index < -size || index >= size) return undefined;
  const steps = stepsOf(first.dims);
  const looked = (values: readonly number[], value: number): number[] =>
    values.toSpliced(axis, 1, ...indices.dims.map(() => value));
  const start = (index < 0 ? index + size : index) * (steps[axis] ?? 0);
  return strided(first, { dims: looked(first.dims, 1), steps: looked(steps, 0), start });
};

export const moves: Readonly<Record<string, Move>> = {
  Identity: (_, __, first) => first,
  Unsqueeze: unsqueeze,
  Squeeze: squeeze,
  Reshape: reshape,
  Flatten: flatten,
  Transpose: transpose,
  Slice: slice,
  Concat: concat,
  Split: split,
  Gather: gather,
};
