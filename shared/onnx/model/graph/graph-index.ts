import type { NodeProto } from '../proto/onnx_pb.js';
import type { Graph } from './graph.ts';

/** Where a value is used: as which input of which node. */
export interface Use {
  node: NodeProto;
  position: number;
}

/**
 * Who makes and who uses each value of a graph, as it is at the moment: built in one pass, and to be built anew after
 * nodes were changed. Uses in bodies count as uses by the node that runs the body, at position -1.
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

  /** The node that makes a value; undefined for inputs and constants. */
  producer(name: string): NodeProto | undefined {
    return this.#producers.get(name);
  }

  uses(name: string): readonly Use[] {
    return this.#uses.get(name) ?? [];
  }

  isOutput(name: string): boolean {
    return this.#outputs.has(name);
  }

  /** The node that alone uses a value which is no output of the graph; undefined where there is more. */
  soleUse(name: string): Use | undefined {
    const uses = this.uses(name);
    return uses.length === 1 && !this.isOutput(name) ? uses[0] : undefined;
  }
}

/** Names that the bodies of a node take from the graphs around them. */
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
