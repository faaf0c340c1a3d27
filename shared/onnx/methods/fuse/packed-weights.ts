import { lazyTensor, makeTensor, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';
import type { GraphView } from './graph-view.ts';

/** Weights of queries, keys and values in the form of com.microsoft Attention. */
export interface PackedWeights {
  input: string;
  weight: string;
  bias: string;
  sizes: number[];
}

/** Return the input of the product that computes a value. Undefined if this is no product with a constant. */
export const packedInput = (view: GraphView, name: string): string | undefined => linearOf(view, name)?.input;

/**
 * A product of a value and a constant float32 weight [inputs, outputs], and its bias. An undefined bias stands for
 * zeros.
 */
interface Linear {
  input: string;
  weight: Tensor;
  bias: Tensor | undefined;
}

function linearOf(view: GraphView, name: string): Linear | undefined {
  if (view.index.soleUse(name) === undefined) return undefined;
  const add = view.made(name, 'Add');
  const biasName = add?.input.find((input) => view.vector(input) !== undefined);
  const product = view.made(add?.input.find((input) => input !== biasName) ?? name, 'MatMul');
  const weight = view.constant(product?.input[1]);
  if (product === undefined || weight?.type !== 'float' || weight.dims.length !== 2) return undefined;
  if (add !== undefined && view.index.soleUse(product.output[0] ?? '') === undefined) return undefined;
  const bias = add && view.vector(biasName, weight.dims[1]);
  if (add !== undefined && bias?.type !== 'float') return undefined;
  return { input: product.input[0] ?? '', weight, bias };
}

/**
 * Pack the weights and biases of three products of the same input into one weight and one bias. Undefined if the
 * values are not such products.
 */
export function packWeights(
  view: GraphView,
  parts: readonly string[],
  label: string,
): PackedWeights | undefined {
  const found = parts.map((name) => linearOf(view, name));
  const linear = found.filter((one) => one !== undefined);
  const [first] = linear;
  if (first === undefined || linear.length < parts.length) return undefined;
  if (linear.some(({ input, weight }) => input !== first.input || weight.dims[0] !== first.weight.dims[0]))
    return undefined;
  if (view.rank(first.input) !== 3) return undefined;
  const weights = linear.map(({ weight }) => weight);
  const sizes = weights.map(({ dims }) => dims[1] ?? 0);
  const biases = linear.flatMap(({ bias }, at) => [
    ...(bias === undefined ? new Float32Array(sizes[at] ?? 0) : floatsOf(bias)),
  ]);
  const weight = view.graph.put(sideBySide(weights, view.names.make(`${label}_weight`)));
  const bias = view.graph.put(
    makeTensor(view.names.make(`${label}_bias`), 'float', [biases.length], Float32Array.from(biases)),
  );
  return { input: first.input, weight: weight.name, bias: bias.name, sizes };
}

/** Concatenate several matrices along their columns. */
function sideBySide(weights: readonly Tensor[], name: string): Tensor {
  const [rows = 0] = weights[0]?.dims ?? [];
  const widths = weights.map(({ dims }) => dims[1] ?? 0);
  const width = widths.reduce((sum, own) => sum + own, 0);
  return lazyTensor(name, 'float', [rows, width], () => {
    const all = new Float32Array(rows * width);
    let start = 0;
    for (const [at, weight] of weights.entries()) {
      const values = floatsOf(weight);
      const own = widths[at] ?? 0;
      for (let row = 0; row < rows; row += 1)
        all.set(values.subarray(row * own, (row + 1) * own), row * width + start);
      start += own;
    }
    return new Uint8Array(all.buffer);
  });
}
