import { renamedTensor } from '../tensor/read-tensor.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { type Graph, Names } from './graph.ts';

/**
 * Give each value of a model a name of its own. Bodies of control flow that are not nested in one another may use the
 * same names for different values, such as the weights of two branches. The names of the main graph stay.
 */
export function distinctNames(root: Graph): void {
  const names = new Names(root);
  const taken = new Set<string>();
  const visit = (graph: Graph, outer: ReadonlyMap<string, string>): void => {
    const renamed = new Map(outer);
    for (const name of definedIn(graph)) {
      if (taken.has(name)) renamed.set(name, names.make(name));
      else renamed.delete(name);
      taken.add(name);
    }
    if (renamed.size > 0) rename(graph, (name) => renamed.get(name) ?? name);
    for (const node of graph.nodes) for (const body of graph.bodiesOf(node)) visit(body, renamed);
  };
  visit(root, new Map());
}

/** Return the names that a graph defines. */
function definedIn(graph: Graph): Set<string> {
  const outputs = graph.nodes.flatMap(({ output }) => output.filter((name) => name !== ''));
  return new Set([...graph.initializers.keys(), ...graph.inputs.map(({ name }) => name), ...outputs]);
}

function rename(graph: Graph, nameOf: (name: string) => string): void {
  const constants = [...graph.initializers.values()];
  graph.initializers.clear();
  for (const tensor of constants) graph.put(renamedConstant(tensor, nameOf(tensor.name)));
  for (const info of [...graph.inputs, ...graph.outputs, ...graph.proto.valueInfo])
    info.name = nameOf(info.name);
  for (const node of graph.nodes) {
    node.input = node.input.map(nameOf);
    node.output = node.output.map(nameOf);
  }
}

/** Texts are written as they were read, with their name. */
const renamedConstant = (tensor: Tensor, name: string): Tensor =>
  tensor.verbatim === undefined || tensor.name === name
    ? { ...tensor, name }
    : { ...tensor, name, verbatim: renamedTensor(tensor.verbatim, () => name) };
