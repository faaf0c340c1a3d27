import { create, toBinary } from '@bufbuild/protobuf';
import { ModelError } from '../model-error.ts';
import {
  type AttributeProto,
  type GraphProto,
  GraphProtoSchema,
  type NodeProto,
  NodeProtoSchema,
  type ValueInfoProto,
} from '../proto/onnx_pb.js';
import type { ExternalData } from '../tensor/external-data.ts';
import { readSparse } from '../tensor/read-sparse.ts';
import { readTensor, tensorMessage } from '../tensor/read-tensor.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { type AttributeValue, makeAttribute } from './attributes.ts';
import { valueInfoOf } from './value-info.ts';

const deepest = 16;

/** Replace the long name of ONNX's own domain. Another message stays as it is: an empty name would take two bytes. */
export function shortenDomain(named: { domain: string }): void {
  if (named.domain === 'ai.onnx') named.domain = '';
}

/**
 * A mutable graph: its message with an empty `initializer`, and its constants by name. Bodies of control flow are
 * graphs too, kept by their attribute.
 */
export class Graph {
  readonly proto: GraphProto;
  readonly initializers = new Map<string, Tensor>();
  /** The outer graph of a body. Its values are visible in the body. */
  readonly parent: Graph | undefined;
  /** Constants that the model also lists as inputs, so a caller may override them. */
  readonly #defaulted: Set<string>;
  readonly #bodies = new Map<AttributeProto, Graph[]>();
  /** Names of nodes, and of their operators, that became constants on loading. */
  readonly hoisted = new Set<string>();

  constructor(proto: GraphProto, external: ExternalData, parent?: Graph, depth = 0) {
    if (depth > deepest) throw new ModelError(`Control flow is nested deeper than ${deepest} levels.`);
    this.proto = proto;
    this.parent = parent;
    const sparse = proto.sparseInitializer.map((message) => readSparse(message, external));
    for (const tensor of [...proto.initializer.map((bytes) => readTensor(bytes, external)), ...sparse]) {
      if (this.initializers.has(tensor.name)) {
        throw new ModelError(`Two constants are called ${JSON.stringify(tensor.name)}.`);
      }
      this.initializers.set(tensor.name, tensor);
    }
    proto.initializer = [];
    proto.sparseInitializer = [];
    this.#defaulted = new Set(
      proto.input.map(({ name }) => name).filter((name) => this.initializers.has(name)),
    );
    proto.input = proto.input.filter(({ name }) => !this.#defaulted.has(name));
    for (const node of proto.node) {
      shortenDomain(node);
      for (const attribute of node.attribute) {
        const graphs = [...(attribute.g === undefined ? [] : [attribute.g]), ...attribute.graphs];
        if (graphs.length === 0) continue;
        this.#bodies.set(
          attribute,
          graphs.map((body) => new Graph(body, external, this, depth + 1)),
        );
      }
    }
  }

  get nodes(): NodeProto[] {
    return this.proto.node;
  }

  set nodes(nodes: NodeProto[]) {
    this.proto.node = nodes;
  }

  /** Inputs that a caller must supply: those without a default among the initializers. */
  get inputs(): ValueInfoProto[] {
    return this.proto.input;
  }

  get outputs(): ValueInfoProto[] {
    return this.proto.output;
  }

  /** Return the bodies of a node: branches of If, the body of Loop or Scan. */
  bodiesOf(node: NodeProto): Graph[] {
    return node.attribute.flatMap((attribute) => this.#bodies.get(attribute) ?? []);
  }

  /** Yield this graph and all nested bodies, outermost first. */
  *all(): Generator<Graph> {
    yield this;
    for (const bodies of this.#bodies.values()) for (const body of bodies) yield* body.all();
  }

  /** Whether a caller may override a constant. */
  isDefault(name: string): boolean {
    return this.#defaulted.has(name);
  }

  /** Stop listing constants as inputs. Old models had to list all of them. */
  forgetDefaults(): void {
    this.#defaulted.clear();
  }

  /** Return the constant of a name in this graph or an outer graph. */
  initializer(name: string): Tensor | undefined {
    return this.initializers.get(name) ?? this.parent?.initializer(name);
  }

  /** Add or replace a constant. */
  put(tensor: Tensor): Tensor {
    this.initializers.set(tensor.name, tensor);
    return tensor;
  }

  /**
   * Serialize the graph's message, including the constants of bodies. The graph's own constants are written after
   * it. Before IR version 4 every constant had to be listed as an input. Since then, only constants that the model
   * listed as inputs are listed.
   */
  serialized(irVersion: bigint): Uint8Array {
    const bodies = [...this.#bodies.values()].flat();
    const inputs = this.proto.input;
    for (const body of bodies) body.#fill();
    const listed = [...this.initializers.values()].filter(
      ({ name }) => irVersion < 4n || this.#defaulted.has(name),
    );
    this.proto.input = [...inputs, ...listed.map(valueInfoOf)];
    try {
      return toBinary(GraphProtoSchema, this.proto);
    } finally {
      this.proto.input = inputs;
      for (const body of bodies) body.#empty();
    }
  }

  // Constants of bodies are few and small, so they are part of the body's message.
  #fill(): void {
    this.proto.initializer = [...this.initializers.values()].map(tensorMessage);
    for (const bodies of this.#bodies.values()) for (const body of bodies) body.#fill();
  }

  #empty(): void {
    this.proto.initializer = [];
    for (const bodies of this.#bodies.values()) for (const body of bodies) body.#empty();
  }
}

/** Create a node. `domain` is '' for ONNX's own operators and `com.microsoft` for ONNX Runtime's. */
export function makeNode(
  op_type: string,
  input: readonly string[],
  output: readonly string[],
  {
    name = '',
    domain = '',
    attributes = {},
  }: { name?: string; domain?: string; attributes?: Readonly<Record<string, AttributeValue>> } = {},
): NodeProto {
  return create(NodeProtoSchema, {
    opType: op_type,
    input: [...input],
    output: [...output],
    name,
    domain,
    attribute: Object.entries(attributes).map(([key, value]) => makeAttribute(key, value)),
  });
}

/** Longest name, in characters, that is derived from another one. */
const maxDerived = 32;

/**
 * Generates names that no value or node of a model has, including those in bodies. A name with an ending (`w_blocks_scales`) also
 * takes what comes before it: its makers add their own endings, and a second quantization must not replace constants of the first.
 */
export class Names {
  readonly #taken = new Set<string>();
  #short = 0;

  constructor(root: Graph) {
    for (const graph of root.all()) {
      for (const name of graph.initializers.keys()) this.#take(name);
      for (const { name } of [...graph.proto.input, ...graph.proto.output]) this.#take(name);
      for (const node of graph.nodes) {
        this.#take(node.name);
        for (const name of node.output) this.#take(name);
      }
    }
  }

  #take(name: string): void {
    for (let end = name.length; end > 0; end = name.lastIndexOf('_', end - 1))
      this.#taken.add(name.slice(0, end));
  }

  /**
   * Return `wanted` if it is free; otherwise append a number. Exporters name values after the path of their layer:
   * a name derived from a long one would take more bytes than many a constant, so it is replaced by a short one.
   */
  make(wanted: string): string {
    const isLong = wanted.length > maxDerived;
    let name = isLong ? this.#nextShort() : wanted;
    for (let count = 2; this.#taken.has(name); count += 1)
      name = isLong ? this.#nextShort() : `${wanted}_${count}`;
    this.#taken.add(name);
    return name;
  }

  #nextShort(): string {
    this.#short += 1;
    return `q${this.#short}`;
  }
}

/** Name of a node in reports and requests: its own name, or that of its first output. */
export const nodeName = (node: NodeProto): string => node.name || (node.output[0] ?? '');

/** Return a node's operator type, with its domain unless that is ONNX's own. */
export const operatorName = ({ domain, opType }: NodeProto): string =>
  domain === '' ? opType : `${domain}.${opType}`;

/** All names by which a request can exclude a node. */
export const namesOf = (node: NodeProto): readonly string[] => [
  nodeName(node),
  node.opType,
  operatorName(node),
];

/** Whether a request excludes a node by its name or operator type, with or without the domain. */
export const isExcluded = (node: NodeProto, exclude: readonly string[]): boolean =>
  exclude.length > 0 && namesOf(node).some((name) => exclude.includes(name));
