import { type Graph, makeNode, type Names } from '../../model/graph/graph.ts';
import { GraphIndex } from '../../model/graph/graph-index.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { sourceOf } from '../../model/tensor/external-data.ts';
import { elementCount, makeTensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';
import { inputsOf, outputsOf, type ProductWeight, productWeight } from './product-weights.ts';
import { type Mapping, quantize, scalesOf } from './quantized-values.ts';

/** Options of the weight quantization whose error the correction compensates. */
export interface CorrectedForm {
  mapping: Mapping;
  isPerChannel: boolean;
  exclude: readonly string[];
}

/**
 * Add the mean error of the weights' quantization to the biases of products. `meanOf` returns the mean of each
 * channel of a value. Return the number of corrected products.
 */
export function correctBiases(
  graph: Graph,
  names: Names,
  { mapping, isPerChannel, exclude }: CorrectedForm,
  meanOf: (name: string) => ArrayLike<number> | undefined,
): number {
  const index = new GraphIndex(graph);
  const added = new Map<NodeProto, NodeProto>();
  let corrected = 0;
  for (const node of graph.nodes) {
    const product = productWeight(graph, node, exclude);
    const mean = product && meanOf(node.input[0] ?? '');
    if (product === undefined || mean?.length !== inputsOf(product)) continue;
    const errors = meanError(product, mean, mapping, isPerChannel);
    if (errors === undefined || !errors.every(Number.isFinite)) continue;
    const bias = biasOf(graph, index, node, errors.length);
    const tensor = graph.initializers.get(bias?.node.input[bias.position] ?? '');
    const before = tensor && floatsOf(tensor);
    const values = Float32Array.from(errors, (error, at) => (before?.[at] ?? 0) + error);
    const dims = tensor?.dims ?? [values.length];
    const name = names.make(`${tensor?.name ?? node.output[0]}_corrected`);
    graph.put(makeTensor(name, 'float', dims, values));
    corrected += 1;
    if (bias !== undefined) bias.node.input[bias.position] = name;
    else if (node.opType === 'Gemm' && !node.input[2]) node.input[2] = name;
    else {
      const [output = ''] = node.output;
      const inner = names.make(`${output}_uncorrected`);
      node.output[0] = inner;
      added.set(node, makeNode('Add', [inner, name], [output], { name: names.make(`${output}_correction`) }));
    }
  }
  graph.nodes = graph.nodes.flatMap((node) => {
    const after = added.get(node);
    return after === undefined ? [node] : [node, after];
  });
  return corrected;
}

/**
 * Return the mean error of each output that the quantization of a weight causes, given the mean of each input: Σ
 * mean · (w − w′), in double precision (Nagel et al., Data-Free Quantization, 2019, section 4.2, with measured
 * means). Undefined if the weight cannot be quantized.
 */
export function meanError(
  product: ProductWeight,
  mean: ArrayLike<number>,
  mapping: Mapping,
  isPerChannel: boolean,
): Float64Array | undefined {
  const { tensor, inputAxis } = product;
  const values = floatsOf(tensor);
  const by = scalesOf(sourceOf(values), tensor.dims, isPerChannel ? 1 - inputAxis : undefined, mapping);
  if (by === undefined) return undefined;
  const { levels } = quantize(sourceOf(values), tensor.dims, by);
  const errors = new Float64Array(outputsOf(product));
  const [rows = 0, columns = 0] = tensor.dims;
  for (let row = 0, at = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1, at += 1) {
      const [input, output] = inputAxis === 0 ? [row, column] : [column, row];
      const channel = isPerChannel ? output : 0;
      const stood = ((levels[at] ?? 0) - (by.zeroPoints[channel] ?? 0)) * (by.scales[channel] ?? 0);
      errors[output] = (errors[output] ?? 0) + (mean[input] ?? 0) * ((values[at] ?? 0) - stood);
    }
  }
  return errors;
}

/**
 * Return the node and position of a bias that is added to this product's outputs only. Undefined if there is no
 * such bias.
 */
function biasOf(graph: Graph, index: GraphIndex, node: NodeProto, outputs: number) {
  const isBias = (name: string | undefined): boolean => {
    const tensor = graph.initializers.get(name ?? '');
    return (
      tensor?.type === 'float' && elementCount(tensor.dims) === outputs && tensor.dims.at(-1) === outputs
    );
  };
  if (node.opType === 'Gemm') return isBias(node.input[2]) ? { node, position: 2 } : undefined;
  const add = index.soleUse(node.output[0] ?? '')?.node;
  if (add?.opType !== 'Add' || add.domain !== '') return undefined;
  const position = add.input.findIndex((name) => name !== node.output[0] && isBias(name));
  return position < 0 ? undefined : { node: add, position };
}
