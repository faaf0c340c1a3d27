import type { Graph } from '../../model/graph/graph.ts';
import type { Tensor } from '../../model/tensor/tensor.ts';

/** A constant and the graph that holds it. */
export interface OwnedConstant {
  owner: Graph;
  tensor: Tensor;
}

/** The constant that a name stands for in a graph, with the graph that holds it: this one, or one around it. */
export function ownedConstant(graph: Graph, name: string | undefined): OwnedConstant | undefined {
  if (!name) return undefined;
  for (let owner: Graph | undefined = graph; owner !== undefined; owner = owner.parent) {
    const tensor = owner.initializers.get(name);
    if (tensor !== undefined) return { owner, tensor };
  }
  return undefined;
}
