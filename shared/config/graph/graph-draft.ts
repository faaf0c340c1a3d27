import type { ConfigGraph, ConfigGraphKind, ConfigGraphNode } from './config-graph.ts';
import { cycles } from './cycles.ts';
import { clip, maxTextLength } from './draw/clip.ts';

interface DraftEdge {
  source: number;
  target: number;
  labels: Set<string>;
}

/** Builder of a graph. It gives nodes unique IDs, joins parallel edges, and finds roots and cycles at the end. */
export class GraphDraft {
  readonly #nodes: ConfigGraphNode[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #edges = new Map<string, DraftEdge>();
  readonly #repeats = new Map<string, number>();

  /**
   * Add a node and return its ID. Append `#2`, `#3`… to the wanted ID if it is taken. Use `#` and the node's
   * number if the wanted ID is empty or too long.
   */
  addNode(wanted: string, label: string, type: string, attributes: ConfigGraphNode['attributes']): string {
    const id = this.#unique(
      wanted === '' || wanted.length > maxTextLength ? `#${this.#nodes.length}` : wanted,
    );
    this.#indexes.set(id, this.#nodes.length);
    this.#nodes.push({ id, label: clip(label), type: clip(type), attributes });
    return id;
  }

  /** Add an edge between two nodes if both exist. Join the labels of parallel edges with commas. */
  connect(source: string | undefined, target: string, label = ''): void {
    const from = source === undefined ? undefined : this.#indexes.get(source);
    const to = this.#indexes.get(target);
    if (from === undefined || to === undefined) return;
    const key = `${from} ${to}`;
    const edge = this.#edges.get(key) ?? { source: from, target: to, labels: new Set() };
    this.#edges.set(key, edge);
    if (label !== '') edge.labels.add(clip(label));
  }

  finish(config_id: string, kind: ConfigGraphKind): ConfigGraph {
    const successors = this.#nodes.map((): number[] => []);
    const entered = new Set<number>();
    for (const { source, target } of this.#edges.values()) {
      successors[source]?.push(target);
      entered.add(target);
    }
    const id = (index: number): string => this.#nodes[index]?.id ?? '';
    return {
      config_id,
      kind,
      nodes: this.#nodes,
      edges: [...this.#edges.values()].map(({ source, target, labels }) => ({
        source: id(source),
        target: id(target),
        label: clip([...labels].join(', ')),
      })),
      roots: this.#nodes.filter((_, index) => !entered.has(index)).map((node) => node.id),
      cycles: cycles(successors).map((component) => component.map(id)),
    };
  }

  #unique(wanted: string): string {
    let id = wanted;
    while (this.#indexes.has(id)) {
      const repeat = (this.#repeats.get(wanted) ?? 1) + 1;
      this.#repeats.set(wanted, repeat);
      id = `${wanted}#${repeat}`;
    }
    return id;
  }
}
