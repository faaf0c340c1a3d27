import type { Model } from '../../model/file/model.ts';
import type { Graph } from '../../model/graph/graph.ts';
import { outerNames } from '../../model/graph/graph-index.ts';
import { inferValues } from '../../model/infer/infer-values.ts';
import { broadcast, isKnown, type Value } from '../../model/infer/value.ts';
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

const single: Readonly<Record<string, (a: number) => number>> = {
  Sqrt: Math.sqrt,
  Neg: (a) => -a,
  Reciprocal: (a) => 1 / a,
};

const pairs: Readonly<Record<string, (a: number, b: number) => number>> = {
  Add: (a, b) => a + b,
  Sub: (a, b) => a - b,
  Mul: (a, b) => a * b,
  Div: (a, b) => a / b,
};

/** Compute the result of a node on float32 constants. */
function floatResult(model: Model, node: NodeProto, name: string): Tensor | undefined {
  const [a, b] = node.input.map((input) => model.graph.initializers.get(input));
  if (a?.type !== 'float' || elementCount(a.dims) > most) return undefined;
  const one = single[node.opType];
  if (one !== undefined) return makeTensor(name, 'float', a.dims, floatsOf(a).map(one));
  const two = pairs[node.opType];
  return two !== undefined && b?.type === 'float' ? combined(a, b, two, name) : undefined;
}

/**
 * Apply one operation to two float32 constants with broadcasting. Each result is rounded to float32 as in ONNX
 * Runtime.
 */
function combined(
  a: Tensor,
  b: Tensor,
  compute: (a: number, b: number) => number,
  name: string,
): Tensor | undefined {
  const dims = broadcast(a.dims, b.dims)?.filter(isKnown);
  if (dims === undefined || elementCount(dims) > most) return undefined;
  const [x, y, p, q] = [floatsOf(a), floatsOf(b), stepsOf(a.dims, dims), stepsOf(b.dims, dims)];
  const values = new Float32Array(elementCount(dims));
  for (let at = 0; at < values.length; at += 1) {
    let [rest, left, right] = [at, 0, 0];
    for (let axis = dims.length - 1; axis >= 0; axis -= 1) {
      const size = dims[axis] ?? 1;
      const place = rest % size;
      rest = Math.floor(rest / size);
      left += place * (p[axis] ?? 0);
      right += place * (q[axis] ?? 0);
    }
    values[at] = compute(x[left] ?? 0, y[right] ?? 0);
  }
  return makeTensor(name, 'float', dims, values);
}

/** Return the strides of a tensor for each axis of a wider shape. The stride of a broadcast axis is 0. */
function stepsOf(dims: readonly number[], over: readonly number[]): number[] {
  return over.map((_, at) => {
    const own = at - over.length + dims.length;
    return own < 0 || dims[own] === 1 ? 0 : elementCount(dims.slice(own + 1));
  });
}
