import type { Model } from '../../model/file/model.ts';
import { type Graph, isExcluded, Names, nodeName } from '../../model/graph/graph.ts';
import { GraphIndex } from '../../model/graph/graph-index.ts';
import { inferValues } from '../../model/infer/infer-values.ts';
import type { Value } from '../../model/infer/value.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf, isFloatTensor } from '../../model/tensor/values.ts';

/** Tolerated relative deviation of a pattern's constant, as large as float32 rounding. */
const tolerance = 1e-6;

/** A graph in which patterns are searched and replaced. */
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

  /**
   * Return the node that produces a value, if it is one of these operators of ONNX's own domain and not excluded.
   */
  made(name: string | undefined, ...operators: readonly string[]): NodeProto | undefined {
    const node = this.index.producer(name ?? '');
    const isOne = node?.domain === '' && operators.includes(node.opType);
    return isOne && !isExcluded(node, this.#exclude) ? node : undefined;
  }

  /**
   * Return the only user of a node's output, if it is one of these operators of ONNX's own domain and not
   * excluded.
   */
  next(node: NodeProto, ...operators: readonly string[]): NodeProto | undefined {
    const user = this.index.soleUse(node.output[0] ?? '')?.node;
    return this.made(user?.output[0], ...operators);
  }

  /** Return the number of a constant with one element. */
  scalar(name: string | undefined): number | undefined {
    const tensor = this.constant(name);
    return tensor !== undefined && elementCount(tensor.dims) === 1 ? floatsOf(tensor)[0] : undefined;
  }

  isNumber(name: string | undefined, value: number): boolean {
    const own = this.scalar(name);
    return own !== undefined && Math.abs(own - value) <= tolerance * Math.abs(value);
  }

  /** Return a floating-point constant. Undefined for other values. */
  constant(name: string | undefined): Tensor | undefined {
    const tensor = this.graph.initializers.get(name ?? '');
    return tensor !== undefined && isFloatTensor(tensor) ? tensor : undefined;
  }

  /** Return a constant with one axis and the given length. */
  vector(name: string | undefined, length?: number): Tensor | undefined {
    const tensor = this.constant(name);
    if (tensor?.dims.length !== 1) return undefined;
    return length === undefined || tensor.dims[0] === length ? tensor : undefined;
  }

  /**
   * Split the two inputs of a node into a constant scalar and the other input. Undefined if neither is a constant
   * scalar.
   */
  scalarAnd(node: NodeProto): { value: number; other: string } | undefined {
    const [a = '', b = ''] = node.input;
    const [left, right] = [this.scalar(a), this.scalar(b)];
    if (right !== undefined) return { value: right, other: a };
    return left === undefined ? undefined : { value: left, other: b };
  }

  /** Replace a node by new nodes. The last new node produces its output. */
  replace(node: NodeProto, ...by: readonly NodeProto[]): void {
    this.#made.set(node, [...by]);
    const last = by.at(-1);
    // Reports and requests keep the old name of this place.
    if (last !== undefined && last.name === '') last.name = nodeName(node);
  }

  isReplaced(node: NodeProto): boolean {
    return this.#made.has(node);
  }

  /** Apply the replacements and return their number. Do not use the view afterwards. */
  finish(): number {
    this.graph.nodes = this.graph.nodes.flatMap((node) => this.#made.get(node) ?? [node]);
    return this.#made.size;
  }
}
