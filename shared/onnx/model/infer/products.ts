import { intAttribute, intsAttribute, stringAttribute } from '../graph/attributes.ts';
import type { Dim } from '../graph/value-info.ts';
import type { NodeProto } from '../proto/onnx_pb.js';
import { onnxAttention } from './fused-attention.ts';
import { broadcast, isKnown, type Rule } from './value.ts';

/** Shape of a matrix product (numpy.matmul). */
export function matMulDims(
  a: readonly Dim[] | undefined,
  b: readonly Dim[] | undefined,
): readonly Dim[] | undefined {
  if (a === undefined || b === undefined || a.length === 0 || b.length === 0) return undefined;
  const left = a.length === 1 ? [1, ...a] : a;
  const right = b.length === 1 ? [...b, 1] : b;
  const batch = broadcast(left.slice(0, -2), right.slice(0, -2));
  if (batch === undefined) return undefined;
  return [
    ...batch,
    ...(a.length === 1 ? [] : [left.at(-2) ?? null]),
    ...(b.length === 1 ? [] : [right.at(-1) ?? null]),
  ];
}

const matMul: Rule = ({ inputs: [a, b] }) => [a && { type: a.type, dims: matMulDims(a.dims, b?.dims) }];
const matMulInteger: Rule = ({ inputs: [a, b] }) => [{ type: 'int32', dims: matMulDims(a?.dims, b?.dims) }];

const matMulNBits: Rule = ({ node, inputs: [a] }) => [
  a && { type: a.type, dims: a.dims && [...a.dims.slice(0, -1), intAttribute(node, 'N', 0)] },
];

const gemm: Rule = ({ node, inputs: [a, b] }) => {
  const rows = a?.dims?.[intAttribute(node, 'transA', 0) === 0 ? 0 : 1] ?? null;
  const columns = b?.dims?.[intAttribute(node, 'transB', 0) === 0 ? 1 : 0] ?? null;
  return [a && { type: a.type, dims: [rows, columns] }];
};

/** Size of one spatial axis after a sliding kernel (ONNX's Conv and pool operators). */
function slid(
  size: Dim | undefined,
  {
    kernel,
    stride,
    dilation,
    before,
    after,
    ceil,
  }: Readonly<Record<'kernel' | 'stride' | 'dilation' | 'before' | 'after' | 'ceil', number>>,
  autoPad: string,
): Dim {
  if (!isKnown(size)) return null;
  if (autoPad === 'SAME_UPPER' || autoPad === 'SAME_LOWER') return Math.ceil(size / stride);
  const pads = autoPad === 'VALID' ? 0 : before + after;
  const steps = (size + pads - dilation * (kernel - 1) - 1) / stride;
  if (ceil === 0) return Math.floor(steps) + 1;
  const up = Math.ceil(steps) + 1;
  // A window that would start in the padding after the end does not count.
  return (up - 1) * stride >= size + before ? up - 1 : up;
}

function spatial(node: NodeProto, sizes: readonly Dim[], kernel: readonly number[]): Dim[] {
  const strides = intsAttribute(node, 'strides');
  const dilations = intsAttribute(node, 'dilations');
  const pads = intsAttribute(node, 'pads');
  const autoPad = stringAttribute(node, 'auto_pad', 'NOTSET');
  const ceil = intAttribute(node, 'ceil_mode', 0);
  return sizes.map((size, at) =>
    slid(
      size,
      {
        kernel: kernel[at] ?? 1,
        stride: strides?.[at] ?? 1,
        dilation: dilations?.[at] ?? 1,
        before: pads?.[at] ?? 0,
        after: pads?.[at + sizes.length] ?? 0,
        ceil,
      },
      autoPad,
    ),
  );
}

const conv: Rule = ({ node, inputs: [x, w] }) => {
  if (x === undefined) return undefined;
  const type = node.opType === 'ConvInteger' ? 'int32' : x.type;
  if (x.dims === undefined || w?.dims === undefined) return [{ type, dims: undefined }];
  const kernel = w.dims.slice(2).map((dim) => (isKnown(dim) ? dim : 1));
  return [{ type, dims: [x.dims[0] ?? null, w.dims[0] ?? null, ...spatial(node, x.dims.slice(2), kernel)] }];
};

const convTranspose: Rule = ({ node, inputs: [x, w] }) => {
  if (x?.dims === undefined || w?.dims === undefined) return [x && { type: x.type, dims: undefined }];
  const strides = intsAttribute(node, 'strides');
  const dilations = intsAttribute(node, 'dilations');
  const pads = intsAttribute(node, 'pads');
  const extra = intsAttribute(node, 'output_padding');
  const fixed = intsAttribute(node, 'output_shape');
  const isPlain = stringAttribute(node, 'auto_pad', 'NOTSET') === 'NOTSET';
  const channels = w.dims[1];
  const groups = intAttribute(node, 'group', 1);
  const sizes = x.dims.slice(2).map((size, at): Dim => {
    const kernel = w.dims?.[at + 2];
    if (fixed?.[at] !== undefined) return fixed[at];
    if (!isKnown(size) || !isKnown(kernel) || !isPlain) return null;
    const rank = (x.dims?.length ?? 2) - 2;
    const reach = ((kernel ?? 1) - 1) * (dilations?.[at] ?? 1) + 1;
    const padded = (pads?.[at] ?? 0) + (pads?.[at + rank] ?? 0);
    return (strides?.[at] ?? 1) * (size - 1) + (extra?.[at] ?? 0) + reach - padded;
  });
  return [
    { type: x.type, dims: [x.dims[0] ?? null, isKnown(channels) ? channels * groups : null, ...sizes] },
  ];
};

const pool: Rule = ({ node, inputs: [x] }) => {
  const kernel = intsAttribute(node, 'kernel_shape') ?? [];
  const dims = x?.dims && [...x.dims.slice(0, 2), ...spatial(node, x.dims.slice(2), kernel)];
  return [x && { type: x.type, dims }];
};

const globalPool: Rule = ({ inputs: [x] }) => [
  x && { type: x.type, dims: x.dims?.map((dim, at) => (at < 2 ? dim : 1)) },
];

/** Y, Y_h and Y_c of RNN, GRU and LSTM in the sequence-first layout. */
const recurrent: Rule = ({ node, inputs: [x] }) => {
  if (x === undefined) return undefined;
  const directions = stringAttribute(node, 'direction', 'forward') === 'bidirectional' ? 2 : 1;
  const hidden = intAttribute(node, 'hidden_size', 0);
  const [first = null, second = null] = x.dims ?? [];
  if (intAttribute(node, 'layout', 0) === 1) {
    const last = { type: x.type, dims: [first, directions, hidden] };
    return [{ type: x.type, dims: [first, second, directions, hidden] }, last, last];
  }
  const last = { type: x.type, dims: [directions, second, hidden] };
  return [{ type: x.type, dims: [first, directions, second, hidden] }, last, last];
};

const einsum: Rule = ({ node, inputs }) => {
  const [left = '', right] = stringAttribute(node, 'equation', '').replaceAll(' ', '').split('->');
  if (right === undefined || left.includes('.'))
    return [inputs[0] && { type: inputs[0].type, dims: undefined }];
  const sizes = new Map<string, Dim>();
  for (const [at, letters] of left.split(',').entries()) {
    for (const [axis, letter] of [...letters].entries()) sizes.set(letter, inputs[at]?.dims?.[axis] ?? null);
  }
  return [inputs[0] && { type: inputs[0].type, dims: [...right].map((letter) => sizes.get(letter) ?? null) }];
};

/** 8-bit operands at inputs 0 and 3, each followed by its scale and zero point. Those of the result come last. */
const quantizedProduct =
  (rule: Rule): Rule =>
  (context) => {
    const [a, , , b, , , , zero] = context.inputs;
    const outputs = rule({ ...context, inputs: [a, b] });
    return outputs?.map((value) => value && { ...value, type: zero?.type ?? value.type });
  };

/** Operators that multiply weights: matrix products, convolutions, pools, recurrent layers. */
export const productRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['MatMul', matMul],
  ['MatMulInteger', matMulInteger],
  ['MatMulIntegerToFloat', ({ inputs: [a, b] }) => [{ type: 'float', dims: matMulDims(a?.dims, b?.dims) }]],
  ['DynamicQuantizeMatMul', matMul],
  ['MatMulNBits', matMulNBits],
  ['Gemm', gemm],
  ['Conv', conv],
  ['ConvInteger', conv],
  ['ConvTranspose', convTranspose],
  ['MaxPool', (context) => [...(pool(context) ?? []), undefined]],
  ['AveragePool', pool],
  ['LpPool', pool],
  ['GlobalAveragePool', globalPool],
  ['GlobalMaxPool', globalPool],
  ['GlobalLpPool', globalPool],
  ['RNN', recurrent],
  ['GRU', recurrent],
  ['LSTM', recurrent],
  ['DynamicQuantizeLSTM', recurrent],
  ['Einsum', einsum],
  ['QLinearConv', quantizedProduct(conv)],
  ['QLinearMatMul', quantizedProduct(matMul)],
  ['Attention', onnxAttention],
]);
