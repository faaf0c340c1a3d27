import { floatAttribute, intAttribute, setAttribute } from '../../../model/graph/attributes.ts';
import { type Graph, makeNode, type Names } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { dataTypes } from '../../../model/tensor/data-type.ts';
import { lazyTensor, reshaped, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import { ownedConstant, type QuantizedNames } from '../weight-store.ts';
import { tiedForm } from './dynamic-gather.ts';
import { type DynamicGraph, type DynamicRule, notFinite } from './dynamic-graph.ts';
import { headTable } from './tied-tables.ts';

export const quantizeMatMul: DynamicRule = (dynamic, node) => {
  const table = dynamic.tied.size === 0 ? undefined : headTable(dynamic.graph, node);
  if (table !== undefined && dynamic.tied.has(table)) return quantizeHead(dynamic, node, table.name);
  const constant = dynamic.weight(node.input[1]);
  if (typeof constant === 'string') return constant;
  const axis = channelAxis(dynamic, constant.tensor.dims.length, false);
  const weight = dynamic.weights.quantized(constant, { ...dynamic.mapping, axis }, node);
  if (weight === undefined) return notFinite;
  const integer = makeNode('MatMulInteger', [], [], { name: node.name });
  putProduct(dynamic, integer, [node.input[0], weight], node.output[0] ?? '');
  return undefined;
};

/** Quantize a product with a table that a Gather shares. ONNX Runtime transposes the table on loading. */
function quantizeHead(dynamic: DynamicGraph, node: NodeProto, name: string): string | undefined {
  const constant = dynamic.weight(name);
  if (typeof constant === 'string') return constant;
  const weight = dynamic.weights.quantized(constant, tiedForm(dynamic), node);
  if (weight === undefined) return notFinite;
  const turned = dynamic.names.make(`${weight.weight}_transposed`);
  const attributes = { perm: [1, 0] };
  dynamic.nodes.push(makeNode('Transpose', [weight.weight], [turned], { name: turned, attributes }));
  const integer = makeNode('MatMulInteger', [], [], { name: node.name });
  putProduct(dynamic, integer, [node.input[0], { ...weight, weight: turned }], node.output[0] ?? '');
  return undefined;
}

/** Return the channel axis of a product's weight: [K, N], or [N, K] if it is swapped. Undefined for one scale. */
function channelAxis({ request }: DynamicGraph, rank: number, isSwapped: boolean): number | undefined {
  // Zero points of stacked matrices would need the rank of the product. Not every processor's kernel supports
  // this.
  if (!request.per_channel || rank !== 2) return undefined;
  return isSwapped ? 0 : 1;
}

/**
 * Append the integer product of an activation and a weight, and its conversion to float by the product of their
 * scales. ONNX Runtime fuses nodes in this order into one.
 */
function putProduct(
  dynamic: DynamicGraph,
  integer: NodeProto,
  [activation = '', weight]: readonly [string | undefined, QuantizedNames],
  output: string,
): void {
  const { nodes, names } = dynamic;
  const { value, scale, zeroPoint } = dynamic.activation(activation);
  const made = (suffix: string) => names.make(`${output}_${suffix}`);
  const [product, float, scales] = [made('product'), made('product_float'), made('scales')];
  const named = (suffix: string) => ({ name: names.make(`${integer.name || output}_${suffix}`) });
  integer.input = [value, weight.weight, zeroPoint, weight.zeroPoint];
  integer.output = [product];
  nodes.push(
    integer,
    makeNode('Cast', [product], [float], { ...named('cast'), attributes: { to: dataTypes.float } }),
    makeNode('Mul', [scale, weight.scale], [scales], named('scales_mul')),
    makeNode('Mul', [float, scales], [output], named('output_scale_mul')),
  );
}

/** Quantize Gemm as MatMulInteger and Add. */
export const quantizeGemm: DynamicRule = (dynamic, node) => {
  const given = dynamic.weight(node.input[1]);
  if (typeof given === 'string') return given;
  const before = makePlain(dynamic.graph, dynamic.names, node);
  if (before === undefined) return 'its factors beta and alpha apply to computed values';
  dynamic.nodes.push(...before);
  const constant = dynamic.weight(node.input[1]);
  if (typeof constant === 'string') return constant;
  const swapped = intAttribute(node, 'transB', 0) !== 0;
  const form = { ...dynamic.mapping, axis: channelAxis(dynamic, 2, swapped), swapped };
  const weight = dynamic.weights.quantized(constant, form, node);
  if (weight === undefined) return notFinite;
  const [output = ''] = node.output;
  const bias = node.input[2] ?? '';
  const product = bias === '' ? output : dynamic.names.make(`${output}_MatMul`);
  putProduct(
    dynamic,
    makeNode('MatMulInteger', [], [], { name: node.name }),
    [node.input[0], weight],
    product,
  );
  if (bias !== '') {
    const options = { name: dynamic.names.make(`${node.name || output}_Add`) };
    dynamic.nodes.push(makeNode('Add', [product, bias], [output], options));
  }
  return undefined;
};

/**
 * Rewrite a Gemm with constant B to alpha = beta = 1 and without transA. The factors go into the constants, and a
 * Transpose before the Gemm replaces transA. Return the nodes to insert before it. Undefined if the Gemm must stay
 * unchanged.
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

/** Return a constant times a factor. The factor is applied when the constant is read. */
const scaled = (tensor: Tensor, name: string, factor: number): Tensor =>
  lazyTensor(name, 'float', tensor.dims, () => floatsOf(tensor).map((value) => value * factor));

/** Quantize Conv with one scale. ConvInteger fails at run time with zero points for several channels. */
export const quantizeConv: DynamicRule = (dynamic, node) => {
  const constant = dynamic.weight(node.input[1]);
  if (typeof constant === 'string') return constant;
  const bias = node.input[2] ? ownedConstant(dynamic.graph, node.input[2]) : undefined;
  if (node.input[2] && bias === undefined) return 'its bias is computed';
  const weight = dynamic.weights.quantized(constant, { ...dynamic.mapping, axis: undefined }, node);
  if (weight === undefined) return notFinite;
  const [output = ''] = node.output;
  const product = bias === undefined ? output : dynamic.names.make(`${output}_ConvInteger`);
  const integer = makeNode('ConvInteger', [], [], { name: node.name });
  integer.attribute = node.attribute;
  putProduct(dynamic, integer, [node.input[0], weight], product);
  if (bias !== undefined) {
    const dims = constant.tensor.dims.map((_, axis) => (axis === 1 ? (bias.tensor.dims[0] ?? 1) : 1));
    const name = dynamic.names.make(`${bias.tensor.name}_reshaped`);
    bias.owner.put({ ...reshaped(bias.tensor, dims), name });
    const options = { name: dynamic.names.make(`${node.name || output}_bias_add`) };
    dynamic.nodes.push(makeNode('Add', [product, name], [output], options));
  }
  return undefined;
};
