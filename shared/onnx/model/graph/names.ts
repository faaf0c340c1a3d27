import type { Graph } from './graph.ts';

/** Gives out names that no value or node of a model has, bodies included. */
export class Names {
  readonly #taken = new Set<string>();

  constructor(root: Graph) {
    for (const graph of root.all()) {
      for (const name of graph.initializers.keys()) this.#taken.add(name);
      for (const { name } of [...graph.proto.input, ...graph.proto.output]) this.#taken.add(name);
      for (const node of graph.nodes) {
        this.#taken.add(node.name);
        for (const name of node.output) this.#taken.add(name);
      }
    }
  }

  /** `wanted` itself where it is free, else with a number behind it. */
  make(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.#taken.has(name); count += 1) name = `${wanted}_${count}`;
    this.#taken.add(name);
    return name;
  }
}
