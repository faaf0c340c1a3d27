import { intAttribute } from '../../model/graph/attributes.ts';
import { makeNode } from '../../model/graph/make-node.ts';
import { axisOf, isKnown } from '../../model/infer/value.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { integersOf } from '../../model/tensor/values.ts';
import type { GraphView } from './graph-view.ts';

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

/** The input whose mean is taken away from it, where this node does that. */
function centred(view: GraphView, name: string | undefined): string | undefined {
  const sub = view.made(name, 'Sub');
  const mean = view.made(sub?.input[1], 'ReduceMean');
  return sub !== undefined && mean !== undefined && mean.input[0] === sub.input[0] && isOverLast(view, mean)
    ? sub.input[0]
    : undefined;
}

/** The mean of the squares of a centred input. */
function isVariance(view: GraphView, name: string | undefined, of: string): boolean {
  const mean = view.made(name, 'ReduceMean');
  const square = view.made(mean?.input[0], 'Pow', 'Mul');
  if (mean === undefined || square === undefined || !isOverLast(view, mean)) return false;
  const [a, b] = square.input;
  const isSquared = square.opType === 'Pow' ? view.isNumber(b, 2) : a === b;
  return isSquared && centred(view, a) === of;
}

/** A constant operand as long as the last axis, and the other operand. */
function scaled(view: GraphView, node: NodeProto | undefined, of: NodeProto): string | undefined {
  const name = node?.input.find((input) => input !== of.output[0]);
  return view.vector(name) === undefined ? undefined : name;
}

/**
 * LayerNormalization of what exporters below opset 17 write: (x − mean(x)) / √(mean((x − mean(x))²) + ε) · γ + β over the
 * last axis.
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
  // A constant of one value, or of another length, would spread.
  if (!isKnown(size) || !view.vector(gain, size) || !view.vector(shift, size)) return;
  const attributes = { axis: -1, epsilon: { float: epsilon.value } };
  view.replace(shifted, makeNode('LayerNormalization', [x, gain, shift], shifted.output, { attributes }));
}
