import { floatAttribute, intAttribute, setAttribute } from '../../../model/graph/attributes.ts';
import type { Graph } from '../../../model/graph/graph.ts';
import { makeNode } from '../../../model/graph/make-node.ts';
import type { Names } from '../../../model/graph/names.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { lazyTensor, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import { ownedConstant } from '../constant-owner.ts';

/** A constant times a factor; a scale that is applied when the constant is read. */
const scaled = (tensor: Tensor, name: string, factor: number): Tensor =>
  lazyTensor(name, 'float', tensor.dims, () => {
    const values = floatsOf(tensor).map((value) => value * factor);
    return new Uint8Array(values.buffer);
  });

/**
 * Makes a Gemm of constant B one with alpha = beta = 1 and A as it is: factors go into the constants, and a Transpose
 * before it takes over transA. Returns the nodes to put before it; undefined where the Gemm has to stay unchanged.
 */
export function makePlain(graph: Graph, names: Names, node: NodeProto): NodeProto[] | undefined {
  const alpha = floatAttribute(node, 'alpha', 1);
  const beta = floatAttribute(node, 'beta', 1);
  const [a = '', b, c] = node.input;
  const factors = [
    { position: 1, name: b, factor: alpha },
    { position: 2, name: c, factor: c ? beta : 1 },
  ].filter(({ factor }) => factor !== 1);
  const constants = factors.map(({ name }) => ownedConstant(graph, name));
  if (constants.some((constant) => constant?.tensor.type !== 'float')) return undefined;
  for (const [at, { position, factor }] of factors.entries()) {
    const constant = constants[at];
    if (constant === undefined) continue;
    const name = names.make(`${constant.tensor.name}_scaled`);
    constant.owner.put(scaled(constant.tensor, name, factor));
    node.input[position] = name;
  }
  if (factors.length > 0) {
    setAttribute(node, 'alpha', { float: 1 });
    setAttribute(node, 'beta', { float: 1 });
  }
  if (intAttribute(node, 'transA', 0) === 0) return [];
  setAttribute(node, 'transA', 0);
  const turned = names.make(`${a}_transposed`);
  node.input[0] = turned;
  return [makeNode('Transpose', [a], [turned], { name: names.make(turned), attributes: { perm: [1, 0] } })];
}
