import { clone } from '@bufbuild/protobuf';
import { ModelError } from '../model-error.ts';
import {
  type AttributeProto,
  AttributeProtoSchema,
  type FunctionProto,
  type GraphProto,
  type ModelProto,
  type NodeProto,
  NodeProtoSchema,
} from '../proto/onnx_pb.js';
import { renamedTensor } from '../tensor/read-tensor.ts';

/** Deepest nesting of calls, and the most nodes that calls may grow a model to. */
const deepest = 32;
const maxNodes = 1_000_000;

/**
 * Replace each call of a function that the model defines by the nodes of the function, as the specification defines
 * a call. Values of a function get names that no other value has. Control flow bodies are included.
 *
 * @throws ModelError if functions call one another endlessly, or need another operator set than the model
 */
export function inlineFunctions(model: ModelProto): void {
  const { graph, functions } = model;
  if (graph === undefined || functions.length === 0) return;
  const inliner = new Inliner(functions, prefixFor(graph));
  inliner.inline(graph);
  for (const body of functions) if (inliner.called.has(body)) requireSameOpsets(model, body);
  model.functions = [];
}

/** Let a model import the operator sets of a function. */
function requireSameOpsets(model: ModelProto, { name, opsetImport }: FunctionProto): void {
  for (const own of opsetImport) {
    const known = model.opsetImport.find(({ domain }) => domain === own.domain);
    if (known === undefined) model.opsetImport.push(own);
    else if (known.version !== own.version)
      throw new ModelError(
        `The function ${JSON.stringify(name)} of the model is written in opset ${own.version} of "${own.domain || 'ai.onnx'}", the model in ${known.version}. Inline it with onnx.inliner.inline_local_functions(model, convert_version=True).`,
      );
  }
}

/** Return a prefix that no name of a graph begins with. */
function prefixFor(graph: GraphProto): string {
  const names = [...namesIn(graph)];
  for (let count = 0; ; count += 1) {
    const prefix = `inlined${count === 0 ? '' : count}_`;
    if (!names.some((name) => name.startsWith(prefix))) return prefix;
  }
}

function* namesIn({ input, node }: GraphProto): Generator<string> {
  for (const { name } of input) yield name;
  for (const one of node) {
    yield one.name;
    yield* one.input;
    yield* one.output;
    for (const body of bodiesOf(one)) yield* namesIn(body);
  }
}

const bodiesOf = ({ attribute }: NodeProto): GraphProto[] =>
  attribute.flatMap(({ g, graphs }) => [...(g === undefined ? [] : [g]), ...graphs]);

const keyOf = (domain: string, name: string, overload: string): string =>
  JSON.stringify([domain, name, overload]);

class Inliner {
  readonly #functions: ReadonlyMap<string, FunctionProto>;
  readonly #prefix: string;
  /** Functions that were inlined. */
  readonly called = new Set<FunctionProto>();
  #calls = 0;
  #nodes = 0;

  constructor(functions: readonly FunctionProto[], prefix: string) {
    this.#functions = new Map(
      functions.map((one) => [keyOf(one.domain, one.name, one.overload), one] as const),
    );
    this.#prefix = prefix;
  }

  inline(graph: GraphProto, depth = 0): void {
    graph.node = this.#expanded(graph.node, depth);
  }

  #expanded(nodes: readonly NodeProto[], depth: number): NodeProto[] {
    if (depth > deepest)
      throw new ModelError(`The functions of the model call one another deeper than ${deepest} levels.`);
    return nodes.flatMap((node) => {
      const called = this.#functions.get(keyOf(node.domain, node.opType, node.overload));
      if (called !== undefined) return this.#expanded(this.#bodyOf(called, node), depth + 1);
      for (const body of bodiesOf(node)) this.inline(body, depth);
      return [node];
    });
  }

  /** Return the nodes of a function with the names and attributes of a call. */
  #bodyOf(called: FunctionProto, call: NodeProto): NodeProto[] {
    this.called.add(called);
    this.#calls += 1;
    this.#nodes += called.node.length;
    if (this.#nodes > maxNodes)
      throw new ModelError(`The functions of the model expand to more than ${maxNodes} nodes.`);
    const prefix = `${this.#prefix}${this.#calls}_`;
    const names = new Map<string, string>();
    for (const [at, name] of called.input.entries()) names.set(name, call.input[at] ?? '');
    for (const [at, name] of called.output.entries()) names.set(name, call.output[at] || `${prefix}${name}`);
    const given = new Map(called.attributeProto.map((one) => [one.name, one] as const));
    for (const one of call.attribute) given.set(one.name, one);
    return called.node.map((node) => placed(clone(NodeProtoSchema, node), { names, prefix, given }));
  }
}

interface Call {
  /** Names outside the function by those inside. */
  names: Map<string, string>;
  prefix: string;
  /** Attributes of the call, and defaults of the function. */
  given: ReadonlyMap<string, AttributeProto>;
}

/** Give a node of a function, and the nodes of its bodies, the names and attributes of a call. */
function placed(node: NodeProto, call: Call): NodeProto {
  const { names, prefix, given } = call;
  const renamed = (name: string): string => {
    if (name === '') return '';
    const known = names.get(name);
    if (known !== undefined) return known;
    const made = `${prefix}${name}`;
    names.set(name, made);
    return made;
  };
  if (node.name !== '') node.name = `${prefix}${node.name}`;
  node.input = node.input.map(renamed);
  node.output = node.output.map(renamed);
  node.attribute = node.attribute.flatMap((attribute) => {
    if (attribute.refAttrName === '') return [attribute];
    const value = given.get(attribute.refAttrName);
    if (value === undefined) return [];
    const replacement = clone(AttributeProtoSchema, value);
    replacement.name = attribute.name;
    return [replacement];
  });
  for (const body of bodiesOf(node)) {
    for (const one of body.input) one.name = renamed(one.name);
    body.initializer = body.initializer.map((tensor) => renamedTensor(tensor, renamed));
    for (const { values } of body.sparseInitializer)
      if (values !== undefined) values.name = renamed(values.name);
    for (const inner of body.node) placed(inner, call);
    for (const one of body.output) one.name = renamed(one.name);
    body.valueInfo = [];
  }
  return node;
}
