import type { Model } from '../../model/file/model.ts';
import type { Graph } from '../../model/graph/graph.ts';
import { outerNames } from '../../model/graph/graph-index.ts';
import { computedConstant } from '../../model/infer/computed-constant.ts';
import { inferValues } from '../../model/infer/infer-values.ts';
import { isKnown, type Value } from '../../model/infer/value.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount, makeInt64s, makeTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';

/**
 * Replace nodes by constants if they compute from constants alone, or if they compute a shape that does not depend
 * on the inputs. Return the number of removed nodes. Keep nodes of random values, of other types, and with results
 * of more than a million values. Also keep a node if the constant would take more room than the node and the
 * constants that only it uses.
 */
export function foldConstants(model: Model): number {
  const { graph } = model;
  const values = inferValues(model);
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  const stored = new StoredConstants(graph);
  const before = graph.nodes.length;
  graph.nodes = graph.nodes.filter((node) => {
    const [name = ''] = node.output;
    if (node.domain !== '' || node.output.length !== 1 || outputs.has(name)) return true;
    const result = shapeResult(values.get(name), name) ?? floatResult(model, node, name);
    if (result === undefined || result.byteLength > stored.freedBy(node)) return true;
    stored.replace(node, result);
    return false;
  });
  return before - graph.nodes.length;
}

/** Approximate bytes of a node in a file. */
const nodeBytes = 64;

/** Count the users of each constant, to ensure that a computed constant never makes the file larger. */
class StoredConstants {
  readonly #graph: Graph;
  readonly #uses = new Map<string, number>();

  constructor(graph: Graph) {
    this.#graph = graph;
    for (const { name } of graph.outputs) this.#use(name);
    for (const node of graph.nodes)
      for (const name of [...node.input, ...outerNames(graph, node)]) this.#use(name);
  }

  #use(name: string): void {
    this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1);
  }

  /** Return the bytes that a node and the constants that only it uses take in a file. */
  freedBy(node: NodeProto): number {
    let freed = nodeBytes;
    for (const name of new Set(node.input)) {
      const own = node.input.filter((input) => input === name).length;
      const tensor = this.#graph.initializers.get(name);
      if (tensor === undefined || (this.#uses.get(name) ?? 0) > own) continue;
      freed += tensor.fill === undefined ? tensor.byteLength : nodeBytes;
    }
    return freed;
  }

  /** Replace a node by a constant. */
  replace(node: NodeProto, result: Tensor): void {
    for (const name of node.input) {
      const left = (this.#uses.get(name) ?? 0) - 1;
      this.#uses.set(name, left);
      if (left === 0) this.#graph.initializers.delete(name);
    }
    this.#graph.put(result);
  }
}

/** Return the constant for a shape that does not depend on the inputs. Undefined if it does. */
function shapeResult(value: Value | undefined, name: string): Tensor | undefined {
  const elements = value?.elements?.filter(isKnown);
  if (value?.type !== 'int64' || elements === undefined || elements.length !== value.elements?.length)
    return undefined;
  const dims = value.dims?.filter(isKnown);
  if (dims?.length !== value.dims?.length || elementCount(dims ?? []) !== elements.length) return undefined;
  return { ...makeInt64s(name, elements), dims: dims ?? [] };
}

/** Maximum values of a computed constant. The time that a larger one saves is not worth its room in the file. */
const most = 2 ** 20;

/** Compute the result of a node on float32 constants. */
function floatResult({ graph }: Model, node: NodeProto, name: string): Tensor | undefined {
  const inputs = node.input.map((input) => graph.initializers.get(input));
  const result = computedConstant(node, inputs, name);
  const sizes = [result, inputs[0]].map((tensor) => elementCount(tensor?.dims ?? []));
  if (result === undefined || sizes.some((size) => size > most)) return undefined;
  return makeTensor(name, 'float', result.dims, floatsOf(result));
}
