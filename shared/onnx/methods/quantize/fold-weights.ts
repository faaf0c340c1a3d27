import { createHash } from 'node:crypto';
import { type Graph, isExcluded, Names } from '../../model/graph/graph.ts';
import { removeUnused } from '../../model/graph/remove-unused.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { Tensor } from '../../model/tensor/tensor.ts';
import { foldTransposes } from './fold-transposes.ts';
import { usesIn, weightPositions } from './fold-widened.ts';
import { type Making, MovedConstants, moves } from './moved-constant.ts';

/**
 * Replace weights that nodes cut, join, reshape, transpose or compute from constants by constants, control flow bodies
 * included. PyTorch's exporter writes the weights of LSTM and of weight normalization in this way. Weights of excluded nodes stay as they are,
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
  readonly #uses: ReturnType<typeof usesIn>;
  /** Names of folded weights by their values: the branches of an If often move the same ones in the same way. */
  readonly #stored = new Map<string, string>();

  constructor(root: Graph) {
    this.#root = root;
    this.#names = new Names(root);
    this.#uses = usesIn(root);
  }

  /** Whether a computed constant would be stored beside one of its size that it is made of, which other nodes use. */
  #isBeside(graph: Graph, name: string, { byteLength }: Tensor): boolean {
    const making: Making = { nodes: new Set(), constants: new Set() };
    this.#moved.collect(graph, name, making);
    const isComputed = [...making.nodes].some(({ opType }) => !(opType in moves));
    return (
      isComputed &&
      [...making.constants].some(
        (constant) =>
          2 * (graph.initializer(constant)?.byteLength ?? 0) >= byteLength &&
          this.#uses.get(constant)?.some((use) => use === 'output' || !making.nodes.has(use.node)),
      )
    );
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
    if (tensor?.type !== 'float' || this.#isBeside(graph, name, tensor)) return;
    const key = `${tensor.dims.join()} ${createHash('sha256').update(tensor.bytes()).digest('hex')}`;
    const stored = this.#stored.get(key) ?? this.#names.make(`${name}_folded`);
    if (!this.#stored.has(key)) this.#root.put({ ...tensor, name: stored });
    this.#stored.set(key, stored);
    node.input[position] = stored;
  }
}
