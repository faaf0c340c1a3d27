import type { Model } from '../../model/file/model.ts';
import { type Graph, isExcluded, Names, nodeName } from '../../model/graph/graph.ts';
import { GraphIndex } from '../../model/graph/graph-index.ts';
import { inferValues } from '../../model/infer/infer-values.ts';
import type { Value } from '../../model/infer/value.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf, isFloatTensor } from '../../model/tensor/values.ts';

/** How far a constant of a pattern may be from its value: as much as float32 rounds it. */
const tolerance = 1e-6;

/** A graph as patterns are looked for in it, and replaced. */
export class GraphView {
  readonly model: Model;
  readonly graph: Graph;
  readonly index: GraphIndex;
  readonly names: Names;
  readonly #values: ReadonlyMap<string, Value>;
  readonly #exclude: readonly string[];
  readonly #made = new Map<NodeProto, NodeProto[]>();

  constructor(model: Model, exclude: readonly string[]) {
    this.model = model;
    this.graph = model.graph;
    this.index = new GraphIndex(model.graph);
    this.names = new Names(model.graph);
    this.#values = inferValues(model);
    this.#exclude = exclude;
  }

  value(name: string | undefined): Value | undefined {
    return this.#values.get(name ?? '');
  }

  rank(name: string | undefined): number | undefined {
    return this.value(name)?.dims?.length;
  }

  /** The node of ONNX's own domain that makes a value, if it is one of these operators and not excluded. */
  made(name: string | undefined, ...operators: readonly string[]): NodeProto | undefined {
    const node = this.index.producer(name ?? '');
    const isOne = node?.domain === '' && operators.includes(node.opType);
    return isOne && !isExcluded(node, this.#exclude) ? node : undefined;
  }

  /** The node that alone uses a node's output, likewise. */
  next(node: NodeProto, ...operators: readonly string[]): NodeProto | undefined {
    const user = this.index.soleUse(node.output[0] ?? '')?.node;
    return this.made(user?.output[0], ...operators);
  }

  /** The only number of a constant. */
  scalar(name: string | undefined): number | undefined {
    const tensor = this.constant(name);
    return tensor !== undefined && elementCount(tensor.dims) === 1 ? floatsOf(tensor)[0] : undefined;
  }

  isNumber(name: string | undefined, value: number): boolean {
    const own = this.scalar(name);
    return own !== undefined && Math.abs(own - value) <= tolerance * Math.abs(value);
  }

  /** A floating-point constant. */
  constant(name: string | undefined): Tensor | undefined {
    const tensor = this.graph.initializers.get(name ?? '');
    return tensor !== undefined && isFloatTensor(tensor) ? tensor : undefined;
  }

  /** A constant of one axis and so many values. */
  vector(name: string | undefined, length?: number): Tensor | undefined {
    const tensor = this.constant(name);
    if (tensor?.dims.length !== 1) return undefined;
    return length === undefined || tensor.dims[0] === length ? tensor : undefined;
  }

  /** The two inputs of a node, a constant scalar apart from the other one; undefined where there is none. */
  scalarAnd(node: NodeProto): { value: number; other: string } | undefined {
    const [a = '', b = ''] = node.input;
    const [left, right] = [this.scalar(a), this.scalar(b)];
    if (right !== undefined) return { value: right, other: a };
    return left === undefined ? undefined : { value: left, other: b };
  }

  /** Puts nodes in the place of one whose output the last of them makes. */
  replace(node: NodeProto, ...by: readonly NodeProto[]): void {
    this.#made.set(node, [...by]);
    const last = by.at(-1);
    // What names the place in reports and requests goes on naming it.
    if (last !== undefined && last.name === '') last.name = nodeName(node);
  }

  isReplaced(node: NodeProto): boolean {
    return this.#made.has(node);
  }

  /** Carries the replacements out, and says how many there were. The view is of no use any more. */
  finish(): number {
    this.graph.nodes = this.graph.nodes.flatMap((node) => this.#made.get(node) ?? [node]);
    return this.#made.size;
  }
}
