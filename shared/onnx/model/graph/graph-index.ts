import type { NodeProto } from '../proto/onnx_pb.js';
import type { Graph } from './graph.ts';

/** A use of a value: the node and the position of its input. */
export interface Use {
  node: NodeProto;
  position: number;
}

/**
 * Index of the producer and the uses of each value of a graph. It is a snapshot: build a new one after changing
 * nodes. Uses in bodies count as uses by the node that runs the body, at position -1.
 */
export class GraphIndex {
  readonly #producers = new Map<string, NodeProto>();
  readonly #uses = new Map<string, Use[]>();
  readonly #outputs: ReadonlySet<string>;

  constructor(graph: Graph) {
    for (const node of graph.nodes) {
      for (const name of node.output) if (name !== '') this.#producers.set(name, node);
      for (const [position, name] of node.input.entries()) this.#use(name, { node, position });
      for (const name of outerNames(graph, node)) this.#use(name, { node, position: -1 });
    }
    this.#outputs = new Set(graph.outputs.map(({ name }) => name));
  }

  #use(name: string, use: Use): void {
    if (name === '') return;
    const uses = this.#uses.get(name);
    if (uses === undefined) this.#uses.set(name, [use]);
    else uses.push(use);
  }

  /** Return the producer of a value; undefined for inputs and constants. */
  producer(name: string): NodeProto | undefined {
    return this.#producers.get(name);
  }

  uses(name: string): readonly Use[] {
    return this.#uses.get(name) ?? [];
  }

  isOutput(name: string): boolean {
    return this.#outputs.has(name);
  }

  /** Return the only use of a value; undefined if it has several uses or is an output of the graph. */
  soleUse(name: string): Use | undefined {
    const uses = this.uses(name);
    return uses.length === 1 && !this.isOutput(name) ? uses[0] : undefined;
  }
}

/** Return the names that the bodies of a node use from outer graphs. */
export function outerNames(graph: Graph, node: NodeProto): Set<string> {
  const outer = new Set<string>();
  for (const body of graph.bodiesOf(node)) {
    const own = new Set([...body.initializers.keys(), ...body.proto.input.map(({ name }) => name)]);
    for (const inner of body.nodes) for (const name of inner.output) own.add(name);
    const used = body.nodes.flatMap((inner) => [...inner.input, ...outerNames(body, inner)]);
    for (const name of [...used, ...body.outputs.map((output) => output.name)])
      if (!own.has(name)) outer.add(name);
  }
  return outer;
}
