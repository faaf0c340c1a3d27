import { microsoft } from '../../model/file/model.ts';
import { floatAttribute, intAttribute } from '../../model/graph/attributes.ts';
import { makeNode } from '../../model/graph/graph.ts';
import { axisOf, isKnown } from '../../model/infer/value.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { integersOf } from '../../model/tensor/values.ts';
import type { GraphView } from './graph-view.ts';

/**
 * Fuse the pattern that exporters below opset 17 write into LayerNormalization: (x − mean(x)) / √(mean((x −
 * mean(x))²) + ε) · γ + β over the last axis.
 */
export function fuseLayerNorm(view: GraphView, divide: NodeProto): void {
  const root = view.made(divide.input[1], 'Sqrt');
  const sum = view.made(root?.input[0], 'Add');
  const x = centred(view, divide.input[0]);
  const epsilon = sum && view.scalarAnd(sum);
  if (x === undefined || epsilon === undefined || !isVariance(view, epsilon.other, x)) return;
  const product = view.next(divide, 'Mul');
  const shifted = product && view.next(product, 'Add');
  const gain = scaled(view, product, divide);
  const shift = product && scaled(view, shifted, product);
  if (shifted === undefined || gain === undefined || shift === undefined) return;
  const size = view.value(x)?.dims?.at(-1);
  // A constant with one value, or with another length, would broadcast.
  if (!isKnown(size) || !view.vector(gain, size) || !view.vector(shift, size)) return;
  const attributes = { axis: -1, epsilon: { float: epsilon.value } };
  view.replace(shifted, makeNode('LayerNormalization', [x, gain, shift], shifted.output, { attributes }));
}

/** Return the input if this node subtracts the input's mean from it. */
function centred(view: GraphView, name: string | undefined): string | undefined {
  const sub = view.made(name, 'Sub');
  const mean = view.made(sub?.input[1], 'ReduceMean');
  return sub !== undefined && mean !== undefined && mean.input[0] === sub.input[0] && isOverLast(view, mean)
    ? sub.input[0]
    : undefined;
}

/** Whether a ReduceMean is over the last axis, and keeps it. */
function isOverLast(view: GraphView, node: NodeProto): boolean {
  const rank = view.rank(node.input[0]);
  const given = view.graph.initializers.get(node.input[1] ?? '');
  const axes =
    given === undefined
      ? node.attribute.find(({ name }) => name === 'axes')?.ints.map(Number)
      : integersOf(given);
  const [axis] = axes ?? [];
  if (axes?.length !== 1 || axis === undefined || intAttribute(node, 'keepdims', 1) !== 1) return false;
  return axis === -1 || (rank !== undefined && axisOf(axis, rank) === rank - 1);
}

/** Whether a value is the mean of the squares of a centred input. */
function isVariance(view: GraphView, name: string | undefined, of: string): boolean {
  const mean = view.made(name, 'ReduceMean');
  const square = view.made(mean?.input[0], 'Pow', 'Mul');
  if (mean === undefined || square === undefined || !isOverLast(view, mean)) return false;
  const [a, b] = square.input;
  const isSquared = square.opType === 'Pow' ? view.isNumber(b, 2) : a === b;
  return isSquared && centred(view, a) === of;
}

/** Return the constant operand of a node if it is a vector and the other operand is the output of `of`. */
function scaled(view: GraphView, node: NodeProto | undefined, of: NodeProto): string | undefined {
  const name = node?.input.find((input) => input !== of.output[0]);
  return view.vector(name) === undefined ? undefined : name;
}

/**
 * Fuse SkipLayerNormalization: the sum of two values with three axes, an optional bias of one of them, and
 * LayerNormalization over the last axis. The sum stays an output if other nodes use it.
 */
export function fuseSkipNorm(view: GraphView, norm: NodeProto): void {
  const [input = '', gain = '', shift = ''] = norm.input;
  const add = view.made(input, 'Add');
  const [a = '', b = ''] = add?.input ?? [];
  const size = view.value(input)?.dims?.at(-1);
  const axis = intAttribute(norm, 'axis', -1);
  const isWhole = norm.output.slice(1).every((name) => name === '') && (axis === -1 || axis === 2);
  if (add === undefined || view.isReplaced(add) || typeof size !== 'number' || !isWhole) return;
  if (!areAlike(view, a, b) || !view.vector(gain, size) || !view.vector(shift, size)) return;
  const left = biasOf(view, a, size);
  const right = left === undefined ? biasOf(view, b, size) : undefined;
  const own = left ?? right;
  const inputs = [left?.x ?? a, right?.x ?? b, gain, shift, ...(own === undefined ? [] : [own.bias])];
  // The sum output includes the bias, so other users of the sum get the same value.
  const isShared = view.index.soleUse(input) === undefined;
  const outputs = [norm.output[0] ?? '', ...(isShared ? ['', '', input] : [])];
  const attributes = { epsilon: { float: floatAttribute(norm, 'epsilon', 1e-5) } };
  const fused = makeNode('SkipLayerNormalization', inputs, outputs, {
    name: norm.name,
    domain: microsoft,
    attributes,
  });
  if (!isShared) view.replace(norm, fused);
  else {
    // The fused node takes the place of the sum, before all users of the sum.
    view.replace(add, fused);
    view.replace(norm);
  }
}

/** Whether two values have the same three dimensions. Their sum then needs no broadcasting. */
function areAlike(view: GraphView, a: string, b: string): boolean {
  const [x, y] = [view.value(a)?.dims, view.value(b)?.dims];
  return x?.length === 3 && y?.length === 3 && x.every((dim, at) => dim !== null && dim === y[at]);
}

/**
 * Return the constant bias in a value, and the value before the bias. Undefined if there is no bias, or if several
 * nodes use the biased value.
 */
function biasOf(view: GraphView, name: string, size: number): { x: string; bias: string } | undefined {
  const add = view.made(name, 'Add');
  if (add === undefined || view.index.soleUse(name) === undefined) return undefined;
  const bias = add.input.find((input) => view.vector(input, size) !== undefined);
  const x = add.input.find((input) => input !== bias);
  return bias === undefined || x === undefined || view.rank(x) !== 3 ? undefined : { x, bias };
}
