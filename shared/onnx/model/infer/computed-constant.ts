import { intAttribute, intsAttribute } from '../graph/attributes.ts';
import type { NodeProto } from '../proto/onnx_pb.js';
import { elementCount, lazyTensor, type Tensor } from '../tensor/tensor.ts';
import { floatsOf, integersOf } from '../tensor/values.ts';
import { broadcast, isKnown } from './value.ts';

/**
 * Return the float32 constant that a node computes from float32 constants, such as the weight of a layer that was
 * trained with weight normalization. Undefined if it computes anything else. The values are computed when they are
 * read; each result is rounded to float32 as in ONNX Runtime.
 */
export function computedConstant(
  node: NodeProto,
  inputs: readonly (Tensor | undefined)[],
  name = node.output[0] ?? '',
): Tensor | undefined {
  const [a, b] = inputs;
  if (node.domain !== '' || a?.type !== 'float' || a.verbatim !== undefined) return undefined;
  const each = single[node.opType];
  if (each !== undefined) return lazyTensor(name, 'float', a.dims, () => floatsOf(a).map(each));
  const both = pairs[node.opType];
  if (both !== undefined) return b?.type === 'float' ? combined(a, b, both, name) : undefined;
  const reduction = reductions[node.opType];
  return reduction && reduced(node, a, b, reduction, name);
}

const single: Readonly<Record<string, (a: number) => number>> = {
  Abs: Math.abs,
  Exp: Math.exp,
  Neg: (a) => -a,
  Reciprocal: (a) => 1 / a,
  Sqrt: Math.sqrt,
};

const pairs: Readonly<Record<string, (a: number, b: number) => number>> = {
  Add: (a, b) => a + b,
  Sub: (a, b) => a - b,
  Mul: (a, b) => a * b,
  Div: (a, b) => a / b,
  Pow: (a, b) => a ** b,
};

/** Apply one operation to two float32 constants with broadcasting. */
function combined(
  a: Tensor,
  b: Tensor,
  compute: (a: number, b: number) => number,
  name: string,
): Tensor | undefined {
  const dims = broadcast(a.dims, b.dims)?.filter(isKnown);
  if (dims === undefined) return undefined;
  return lazyTensor(name, 'float', dims, () => {
    const [x, y, p, q] = [floatsOf(a), floatsOf(b), stepsOf(a.dims, dims), stepsOf(b.dims, dims)];
    const values = new Float32Array(elementCount(dims));
    for (let at = 0; at < values.length; at += 1) {
      let [rest, left, right] = [at, 0, 0];
      for (let axis = dims.length - 1; axis >= 0; axis -= 1) {
        const size = dims[axis] ?? 1;
        const place = rest % size;
        rest = Math.floor(rest / size);
        left += place * (p[axis] ?? 0);
        right += place * (q[axis] ?? 0);
      }
      values[at] = compute(x[left] ?? 0, y[right] ?? 0);
    }
    return values;
  });
}

/** Return the strides of a tensor for each axis of a wider shape. The stride of a broadcast axis is 0. */
function stepsOf(dims: readonly number[], over: readonly number[]): number[] {
  return over.map((_, at) => {
    const own = at - over.length + dims.length;
    return own < 0 || dims[own] === 1 ? 0 : elementCount(dims.slice(own + 1));
  });
}

/** What a reduction adds up, and what it makes of the sum of a number of values. */
interface Reduction {
  term(value: number): number;
  result(sum: number, count: number): number;
}

const square = (value: number): number => value * value;
const same = (value: number): number => value;

const reductions: Readonly<Record<string, Reduction>> = {
  ReduceL1: { term: Math.abs, result: same },
  ReduceL2: { term: square, result: Math.sqrt },
  ReduceMean: { term: same, result: (sum, count) => sum / count },
  ReduceSum: { term: same, result: same },
  ReduceSumSquare: { term: square, result: same },
};

function reduced(
  node: NodeProto,
  tensor: Tensor,
  given: Tensor | undefined,
  { term, result }: Reduction,
  name: string,
): Tensor | undefined {
  const { dims } = tensor;
  const axes = given === undefined ? intsAttribute(node, 'axes') : integersOf(given);
  const isOpen =
    (node.input[1] && given === undefined) || intAttribute(node, 'noop_with_empty_axes', 0) !== 0;
  if (isOpen) return undefined;
  const gone = new Set(
    (axes?.length ? axes : [...dims.keys()]).map((axis) => (axis < 0 ? axis + dims.length : axis)),
  );
  const kept = dims.map((dim, axis) => (gone.has(axis) ? 1 : dim));
  const isKept = intAttribute(node, 'keepdims', 1) !== 0;
  const count = elementCount(dims) / elementCount(kept);
  return lazyTensor(name, 'float', isKept ? kept : kept.filter((_, axis) => !gone.has(axis)), () => {
    const steps = stepsOf(kept, dims);
    const sums = new Float64Array(elementCount(kept));
    for (const [at, value] of floatsOf(tensor).entries()) {
      let [rest, place] = [at, 0];
      for (let axis = dims.length - 1; axis >= 0; axis -= 1) {
        place += (rest % (dims[axis] ?? 1)) * (steps[axis] ?? 0);
        rest = Math.floor(rest / (dims[axis] ?? 1));
      }
      sums[place] = (sums[place] ?? 0) + term(value);
    }
    return Float32Array.from(sums, (sum) => result(sum, count));
  });
}
