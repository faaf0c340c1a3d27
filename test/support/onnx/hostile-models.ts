import { create, toBinary } from '@bufbuild/protobuf';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { type ValueType, valueInfoOf } from '../../../shared/onnx/model/graph/value-info.ts';
import {
  AttributeProtoSchema,
  AttributeProto_AttributeType as AttributeType,
  type GraphProto,
  GraphProtoSchema,
  ModelProtoSchema,
  type NodeProto,
} from '../../../shared/onnx/model/proto/onnx_pb.js';
import { tensorHeader, tensorMessage } from '../../../shared/onnx/model/tensor/read-tensor.ts';
import { makeTensor, type Tensor } from '../../../shared/onnx/model/tensor/tensor.ts';

type Values = Readonly<Record<string, ValueType>>;

const graphOf = (
  nodes: NodeProto[],
  inputs: Values,
  outputs: Values,
  constants: Tensor[] = [],
): GraphProto => {
  const infos = (values: Values) =>
    Object.entries(values).map(([name, type]) => valueInfoOf({ name, ...type }));
  const initializer = constants.map(tensorMessage);
  return create(GraphProtoSchema, {
    name: 'g',
    node: nodes,
    input: infos(inputs),
    output: infos(outputs),
    initializer,
  });
};

function withBody(node: NodeProto, name: string, body: GraphProto): NodeProto {
  node.attribute.push(create(AttributeProtoSchema, { name, type: AttributeType.GRAPH, g: body }));
  return node;
}

const bool: ValueType = { type: 'bool', dims: [] };
const vector: ValueType = { type: 'float', dims: [4] };
const int: ValueType = { type: 'int32', dims: [1] };

/** A product behind each, so that there is something to transform. */
const product = makeNode('MatMul', ['v', 'w'], ['o'], { name: 'product' });
const weight = makeTensor('w', 'float', [4, 8], new Float32Array(32).fill(0.5));

/** A Loop of 2^62 turns. */
export function endlessLoop(): GraphProto {
  const body = graphOf(
    [makeNode('Identity', ['c'], ['go']), makeNode('Add', ['a', 'a'], ['sum'])],
    { i: { type: 'int64', dims: [] }, c: bool, a: vector },
    { go: bool, sum: vector },
  );
  return graphOf(
    [withBody(makeNode('Loop', ['turns', 'yes', 'x'], ['v']), 'body', body), product],
    { x: vector },
    { o: { type: 'float', dims: [8] } },
    [
      makeTensor('turns', 'int64', [], BigInt64Array.of(2n ** 62n)),
      makeTensor('yes', 'bool', [], Uint8Array.of(1)),
      weight,
    ],
  );
}

/** Divides the least int32 by −1, which no int32 holds: the processor raises a fault that ends the process. */
export function nativeCrash(): GraphProto {
  return graphOf(
    [
      makeNode('Neg', ['n'], ['minus']),
      makeNode('Div', ['least', 'minus'], ['quotient']),
      makeNode('Identity', ['x'], ['v']),
      product,
    ],
    { n: int, x: vector },
    { quotient: int, o: { type: 'float', dims: [8] } },
    [makeTensor('least', 'int32', [1], Int32Array.of(-(2 ** 31))), weight],
  );
}

/** Asks for `elements` floats while it runs. */
export function memoryHog(elements: bigint): GraphProto {
  return graphOf(
    [
      makeNode('Expand', ['x', 'size'], ['wide']),
      makeNode('Exp', ['wide'], ['e']),
      makeNode('Slice', ['e', 'zero', 'four'], ['v']),
      product,
    ],
    { x: { type: 'float', dims: [1] } },
    { o: { type: 'float', dims: [8] } },
    [
      makeTensor('size', 'int64', [1], BigInt64Array.of(elements)),
      makeTensor('zero', 'int64', [1], BigInt64Array.of(0n)),
      makeTensor('four', 'int64', [1], BigInt64Array.of(4n)),
      weight,
    ],
  );
}

/** `depth` branches within one another. */
export function deepNesting(depth: number): GraphProto {
  let body = graphOf([makeNode('Identity', ['x'], ['r'])], {}, { r: vector });
  for (let level = 0; level < depth; level += 1) {
    const node = withBody(makeNode('If', ['c'], ['r']), 'then_branch', body);
    body = graphOf(
      [withBody(node, 'else_branch', graphOf([makeNode('Identity', ['x'], ['r'])], {}, { r: vector }))],
      {},
      { r: vector },
    );
  }
  body.input = [valueInfoOf({ name: 'c', ...bool }), valueInfoOf({ name: 'x', ...vector })];
  return body;
}

/** A product whose weight is said to lie in this file, in these dimensions. */
export function outsideWeight(location: string, dims: readonly number[]): GraphProto {
  const graph = graphOf([product], { v: vector }, { o: { type: 'float', dims: [8] } });
  const tensor = { ...weight, dims, byteLength: dims.reduce((product, dim) => product * dim, 4) };
  graph.initializer = [tensorHeader(tensor, { location, offset: 0 })];
  return graph;
}

/** A product whose weight claims these dimensions, with no values behind them. */
export function claimedWeight(dims: readonly number[]): GraphProto {
  const graph = graphOf([product], { v: vector }, { o: { type: 'float', dims: [8] } });
  graph.initializer = [tensorHeader({ ...weight, dims, byteLength: 0 })];
  return graph;
}

/** A weight of these dimensions that takes no room in the file: a node makes it. */
export function filledWeight(dims: readonly number[]): GraphProto {
  const fill = makeNode('ConstantOfShape', ['dims'], ['w'], { name: 'fill' });
  return graphOf([fill, product], { v: vector }, { o: { type: 'float', dims: [8] } }, [
    makeTensor('dims', 'int64', [dims.length], BigInt64Array.from(dims, BigInt)),
  ]);
}

/** Two nodes that wait for each other. */
export function cycle(): GraphProto {
  const nodes = [makeNode('Add', ['x', 'b'], ['v']), makeNode('Relu', ['v'], ['b']), product];
  return graphOf(nodes, { x: vector }, { o: { type: 'float', dims: [8] } }, [weight]);
}

/** The bytes of a model of this graph. */
export const modelBytes = (graph: GraphProto): Uint8Array =>
  toBinary(
    ModelProtoSchema,
    create(ModelProtoSchema, { irVersion: 8n, opsetImport: [{ domain: '', version: 17n }], graph }),
  );
