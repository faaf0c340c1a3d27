import { floatAttribute, setAttribute } from '../../../model/graph/attributes.ts';
import { makeNode } from '../../../model/graph/make-node.ts';
import { elementCount, makeTensor, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import { layerName } from '../layer-name.ts';
import type { Cut, DependencyGraph } from './dependency-graph.ts';

/** Where operators that follow a product add a constant for each of its outputs. */
const biasInputs: Readonly<Record<string, readonly number[]>> = {
  Add: [0, 1],
  BiasGelu: [1],
  SkipLayerNormalization: [4],
};

/** Adds numbers to the constant that alone is added to a product next; false where there is none. */
function addToNext(
  dependencies: DependencyGraph,
  product: string,
  name: string,
  sums: Float64Array,
): boolean {
  const next = dependencies.index.soleUse(product)?.node;
  for (const position of biasInputs[next?.opType ?? ''] ?? []) {
    const bias = dependencies.constant(next?.input[position]);
    if (next === undefined || bias?.type !== 'float' || bias.dims.join() !== String(sums.length)) continue;
    const values = Float32Array.from(floatsOf(bias), (value, at) => value + (sums[at] ?? 0));
    next.input[position] = dependencies.model.graph.put(makeTensor(name, 'float', bias.dims, values)).name;
    return true;
  }
  return false;
}

/** Adds numbers to a layer's bias, or gives it one; it loses the layer's removed outputs like any other. */
export function addToBias(
  dependencies: DependencyGraph,
  { node }: Cut,
  weight: Tensor,
  sums: Float64Array,
): void {
  const { model, names } = dependencies;
  const name = names.make(`${layerName(node)}_bias`);
  const carried = dependencies.carried.get(node.output[0] ?? '');
  const labels = carried?.labels;
  const cutAt = (position: number, at = node): void => {
    if (labels !== undefined) dependencies.cut({ node: at, position, axis: 0, labels, isWeight: false });
  };
  if (node.opType === 'MatMul') {
    const [output = ''] = node.output;
    if (addToNext(dependencies, output, name, sums)) return;
    const product = names.make(`${output}_product`);
    const add = makeNode('Add', [product, name], [output], { name: names.make(`${layerName(node)}_add`) });
    model.graph.put(makeTensor(name, weight.type, [sums.length], Float32Array.from(sums)));
    node.output[0] = product;
    if (carried !== undefined) dependencies.carried.set(product, carried);
    model.graph.nodes.splice(model.graph.nodes.indexOf(node) + 1, 0, add);
    cutAt(1, add);
    return;
  }
  const former = model.graph.initializers.get(node.input[2] ?? '');
  const bias = former && floatsOf(former);
  const isGemm = node.opType === 'Gemm';
  const [alpha, beta] = isGemm ? [floatAttribute(node, 'alpha', 1), floatAttribute(node, 'beta', 1)] : [1, 1];
  const rows = Math.max(1, elementCount(former?.dims.slice(0, -1) ?? []));
  const isSpread = bias !== undefined && bias.length === rows && sums.length > 1;
  const values = Float32Array.from({ length: rows * sums.length }, (_, at) => {
    const own = bias?.[isSpread ? Math.floor(at / sums.length) : at] ?? 0;
    return beta * own + alpha * (sums[at % sums.length] ?? 0);
  });
  const dims = rows === 1 ? [sums.length] : [rows, sums.length];
  model.graph.put(makeTensor(name, weight.type, dims, values));
  if (isGemm && beta !== 1) setAttribute(node, 'beta', { float: 1 });
  const noted = dependencies.cuts.findIndex((one) => one.node === node && one.position === 2);
  if (noted >= 0) dependencies.cuts.splice(noted, 1);
  node.input[2] = name;
  if (labels !== undefined)
    dependencies.cut({ node, position: 2, axis: dims.length - 1, labels, isWeight: false });
}
