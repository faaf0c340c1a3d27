import type { NodeProto } from '../proto/onnx_pb.js';
import { transposed } from '../tensor/strided.ts';
import { elementCount, makeInt64s, reshaped, type Tensor } from '../tensor/tensor.ts';
import { isFloatTensor } from '../tensor/values.ts';
import { stringAttribute } from './attributes.ts';
import { type Graph, isExcluded, makeNode, Names, nodeName } from './graph.ts';
import { removeUnused } from './remove-unused.ts';

/**
 * Write each Einsum that is one matrix product as a MatMul, control flow bodies included: exporters of JAX and of
 * attention by hand write layers as Einsum. Transposes and Reshapes bring the axes of its values in order, a constant
 * is stored in order.
 */
export function unfoldEinsum(root: Graph, exclude: readonly string[]): void {
  if (![...root.all()].some(({ nodes }) => nodes.some(isEinsum))) return;
  const names = new Names(root);
  const matrices = new Map<string, string>();
  const others = new Set(
    [...root.all()].flatMap(({ nodes, outputs }) => [
      ...nodes.filter((node) => !isEinsum(node)).flatMap(({ input }) => input),
      ...outputs.map(({ name }) => name),
    ]),
  );
  for (const graph of root.all())
    graph.nodes = graph.nodes.flatMap((node) => {
      const product = isEinsum(node) && !isExcluded(node, exclude) ? productOf(node) : undefined;
      return (
        (product && new Unfolding(graph, { root, names, matrices }, node).unfold(product, others)) ?? [node]
      );
    });
  removeUnused(root);
}

const isEinsum = ({ opType, domain }: NodeProto): boolean => opType === 'Einsum' && domain === '';

/** An Einsum of two values as a product of matrices: its axes by their letters. */
interface Product {
  left: string;
  right: string;
  result: string;
  /** Axes of both values and the result; of both values alone; of the left and of the right value alone. */
  batch: string;
  summed: string;
  rows: string;
  columns: string;
}

function productOf(node: NodeProto): Product | undefined {
  const equation = stringAttribute(node, 'equation', '').replaceAll(' ', '');
  const [, left, right, result] = /^([a-zA-Z]+),([a-zA-Z]+)->([a-zA-Z]+)$/.exec(equation) ?? [];
  if (left === undefined || right === undefined || result === undefined) return undefined;
  if ([left, right, result].some((axes) => new Set(axes).size < axes.length)) return undefined;
  const those = (axes: string, inRight: boolean, inResult: boolean, other = right): string =>
    [...axes]
      .filter((axis) => other.includes(axis) === inRight && result.includes(axis) === inResult)
      .join('');
  const parts = {
    batch: those(left, true, true),
    summed: those(left, true, false),
    rows: those(left, false, true),
    columns: those(right, false, true, left),
  };
  const isWhole =
    parts.batch.length + parts.summed.length + parts.rows.length === left.length &&
    parts.batch.length + parts.summed.length + parts.columns.length === right.length;
  return isWhole && parts.summed && parts.rows && parts.columns
    ? { left, right, result, ...parts }
    : undefined;
}

/** What the unfoldings of a model share. */
interface Shared {
  root: Graph;
  names: Names;
  /** Names of the matrices that were made of weights. */
  matrices: Map<string, string>;
}

class Unfolding {
  readonly #graph: Graph;
  readonly #shared: Shared;
  readonly #names: Names;
  readonly #node: NodeProto;
  readonly #nodes: NodeProto[] = [];

  constructor(graph: Graph, shared: Shared, node: NodeProto) {
    this.#graph = graph;
    this.#shared = shared;
    this.#names = shared.names;
    this.#node = node;
  }

  /** Return the nodes that replace the Einsum. Undefined if it stays: `others` are values that other nodes use. */
  unfold(product: Product, others: ReadonlySet<string>): NodeProto[] | undefined {
    const [left = '', right = ''] = this.#node.input;
    const weight = this.#graph.initializer(right);
    if (weight !== undefined && product.batch === '') {
      // A copy of a weight that others read as it is would make the file larger.
      const isOwn = isFloatTensor(weight) && weight.verbatim === undefined && !others.has(right);
      return isOwn && weight.dims.length === product.right.length
        ? this.#layer(left, weight, product)
        : undefined;
    }
    const isFlat = product.summed.length === 1 && product.rows.length === 1 && product.columns.length === 1;
    return isFlat ? this.#values(left, right, product) : undefined;
  }

  #layer(value: string, weight: Tensor, product: Product): NodeProto[] {
    const { left, right, result, rows, summed, columns } = product;
    const sizes = (axes: string): number[] => [...axes].map((axis) => weight.dims[right.indexOf(axis)] ?? 1);
    const dims = [elementCount(sizes(summed)), elementCount(sizes(columns))];
    const kept = [...rows].map(() => 0);
    const inOrder = this.#transposed(value, left, rows + summed);
    const flat = summed.length === 1 ? inOrder : this.#reshaped(inOrder, [...kept, dims[0] ?? 1]);
    const matrices = this.#product([flat, this.#matrix(weight, permOf(right, summed + columns), dims)]);
    const whole = columns.length === 1 ? matrices : this.#reshaped(matrices, [...kept, ...sizes(columns)]);
    return this.#finished(whole, rows + columns, result);
  }

  /** Return the name of a weight's matrix, which the same form of the weight shares. */
  #matrix(weight: Tensor, perm: readonly number[], dims: readonly number[]): string {
    const { root, names, matrices } = this.#shared;
    const key = JSON.stringify([weight.name, perm, dims]);
    const name = matrices.get(key) ?? names.make(`${weight.name}_matrix`);
    if (!matrices.has(key)) root.put({ ...reshaped(transposed(weight, perm), dims), name });
    matrices.set(key, name);
    return name;
  }

  #values(left: string, right: string, axes: Product): NodeProto[] {
    const { batch, rows, summed, columns, result } = axes;
    const product = this.#product([
      this.#transposed(left, axes.left, batch + rows + summed),
      this.#transposed(right, axes.right, batch + summed + columns),
    ]);
    return this.#finished(product, batch + rows + columns, result);
  }

  #product(inputs: string[]): string {
    const product = this.#names.make(`${nodeName(this.#node)}_product`);
    this.#nodes.push(makeNode('MatMul', inputs, [product], { name: this.#node.name }));
    return product;
  }

  #transposed(value: string, from: string, to: string): string {
    if (from === to) return value;
    const name = this.#names.make(`${value}_in_order`);
    this.#nodes.push(
      makeNode('Transpose', [value], [name], { name, attributes: { perm: permOf(from, to) } }),
    );
    return name;
  }

  #reshaped(value: string, dims: readonly number[]): string {
    const name = this.#names.make(`${value}_reshaped`);
    const shape = this.#graph.put(makeInt64s(this.#names.make(`${name}_shape`), dims)).name;
    this.#nodes.push(makeNode('Reshape', [value, shape], [name], { name }));
    return name;
  }

  /** Let the last node make the value of the Einsum. */
  #finished(value: string, from: string, to: string): NodeProto[] {
    this.#transposed(value, from, to);
    const last = this.#nodes.at(-1);
    if (last !== undefined) last.output = [...this.#node.output];
    return this.#nodes;
  }
}

const permOf = (from: string, to: string): number[] => [...to].map((axis) => from.indexOf(axis));
