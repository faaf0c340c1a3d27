import { toBinary } from '@bufbuild/protobuf';
import { ModelError } from '../model-error.ts';
import {
  type AttributeProto,
  type GraphProto,
  GraphProtoSchema,
  type NodeProto,
  type ValueInfoProto,
} from '../proto/onnx_pb.js';
import type { ExternalData } from '../tensor/external-data.ts';
import { readTensor } from '../tensor/read-tensor.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { tensorMessage } from '../tensor/write-tensor.ts';
import { valueInfoOf } from './value-info.ts';

const deepest = 16;

/**
 * A graph that is being worked on: the message, whose `initializer` stays empty, and its constants by name. Bodies of
 * control flow are graphs of their own, kept by the attribute that holds them.
 */
export class Graph {
  readonly proto: GraphProto;
  readonly initializers = new Map<string, Tensor>();
  /** The graph around a body; its values are visible in the body. */
  readonly parent: Graph | undefined;
  /** Constants that the model lists as inputs, too, so that a caller may give another value. */
  readonly #defaulted: Set<string>;
  readonly #bodies = new Map<AttributeProto, Graph[]>();
  /** Names of the nodes, and of their operators, that became constants when the model was read. */
  readonly hoisted = new Set<string>();

  constructor(proto: GraphProto, external: ExternalData, parent?: Graph, depth = 0) {
    if (depth > deepest) throw new ModelError(`Control flow is nested deeper than ${deepest} levels.`);
    this.proto = proto;
    this.parent = parent;
    for (const bytes of proto.initializer) {
      const tensor = readTensor(bytes, external);
      if (this.initializers.has(tensor.name)) {
        throw new ModelError(`Two constants are called ${JSON.stringify(tensor.name)}.`);
      }
      this.initializers.set(tensor.name, tensor);
    }
    proto.initializer = [];
    this.#defaulted = new Set(
      proto.input.map(({ name }) => name).filter((name) => this.initializers.has(name)),
    );
    proto.input = proto.input.filter(({ name }) => !this.#defaulted.has(name));
    for (const node of proto.node) {
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

  /** Inputs that a caller must give: those without a default among the initializers. */
  get inputs(): ValueInfoProto[] {
    return this.proto.input;
  }

  get outputs(): ValueInfoProto[] {
    return this.proto.output;
  }

  /** The bodies that a node runs: branches of If, the body of Loop and Scan. */
  bodiesOf(node: NodeProto): Graph[] {
    return node.attribute.flatMap((attribute) => this.#bodies.get(attribute) ?? []);
  }

  /** This graph and all bodies within it, outermost first. */
  *all(): Generator<Graph> {
    yield this;
    for (const bodies of this.#bodies.values()) for (const body of bodies) yield* body.all();
  }

  /** Forgets which constants were listed as inputs, which all had to be in old models. */
  forgetDefaults(): void {
    this.#defaulted.clear();
  }

  /** The constant that a name stands for here, also one of a graph around this one. */
  initializer(name: string): Tensor | undefined {
    return this.initializers.get(name) ?? this.parent?.initializer(name);
  }

  /** Adds or replaces a constant. */
  put(tensor: Tensor): Tensor {
    this.initializers.set(tensor.name, tensor);
    return tensor;
  }

  /**
   * The message, with the constants of bodies but without its own, which are written after it. Before IR version 4
   * every constant had to be listed as an input; since then only those are that were.
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

  // Constants of bodies are few and small; they are written as part of the body's message.
  #fill(): void {
    this.proto.initializer = [...this.initializers.values()].map(tensorMessage);
    for (const bodies of this.#bodies.values()) for (const body of bodies) body.#fill();
  }

  #empty(): void {
    this.proto.initializer = [];
    for (const bodies of this.#bodies.values()) for (const body of bodies) body.#empty();
  }
}
