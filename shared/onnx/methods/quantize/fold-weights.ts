import { createHash } from 'node:crypto';
import { type Graph, isExcluded, Names } from '../../model/graph/graph.ts';
import { removeUnused } from '../../model/graph/remove-unused.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { Tensor } from '../../model/tensor/tensor.ts';
import { foldTransposes } from './fold-transposes.ts';
import { weightPositions } from './fold-widened.ts';
import { MovedConstants } from './moved-constant.ts';

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
  const moved = new MovedWeights(root);
  for (const graph of root.all()) {
    for (const node of graph.nodes) {
      if (isExcluded(node, exclude)) continue;
      for (const position of weightPositions[node.opType] ?? []) moved.fold(graph, node, position);
    }
  }
  if (moved.count > 0) removeUnused(root);
}

/** Stores the weights that nodes move from constants. */
class MovedWeights {
  readonly #root: Graph;
  readonly #names: Names;
  readonly #moved = new MovedConstants();
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
    const made = this.#moved.producer(graph, name);
    if (made === undefined) return;
    const isTransposed = made.node.opType === 'Transpose';
    if (isTransposed && made.owner.initializer(made.node.input[0] ?? '') !== undefined) return;
    const tensor = this.#moved.value(graph, name);
    if (tensor?.type !== 'float') return;
    const key = `${tensor.dims.join()} ${createHash('sha256').update(tensor.bytes()).digest('hex')}`;
    const stored = this.#stored.get(key) ?? this.#names.make(`${name}_folded`);
    if (!this.#stored.has(key)) this.#root.put({ ...tensor, name: stored });
    this.#stored.set(key, stored);
    node.input[position] = stored;
  }
}
