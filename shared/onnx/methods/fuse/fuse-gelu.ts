import { microsoft } from '../../model/file/model.ts';
import { makeNode } from '../../model/graph/graph.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { GraphView } from './graph-view.ts';

/** Fuse Gelu: x · (1 + erf(x / √2)) / 2 (Hendrycks and Gimpel, 2016). */
export function fuseGelu(view: GraphView, erf: NodeProto): void {
  const scaled = view.made(erf.input[0], 'Div', 'Mul');
  if (scaled === undefined) return;
  const [x = '', factor] = scaled.input;
  const isRoot =
    scaled.opType === 'Div' ? view.isNumber(factor, Math.SQRT2) : view.isNumber(factor, Math.SQRT1_2);
  const isTurned = scaled.opType === 'Mul' && view.isNumber(x, Math.SQRT1_2);
  if (isRoot) replaceBy(view, 'Gelu', x, plusOne(view, erf));
  else if (isTurned) replaceBy(view, 'Gelu', factor ?? '', plusOne(view, erf));
}

function replaceBy(view: GraphView, operator: string, x: string, grown: NodeProto | undefined): void {
  const last = grown && halved(view, grown, x);
  if (last === undefined) return;
  view.replace(last, makeNode(operator, [x], last.output, { domain: microsoft }));
}

/**
 * Return the node that computes x · (1 + f) / 2, given the node `grown` that computes 1 + f. The products may be
 * in any order.
 */
function halved(view: GraphView, grown: NodeProto, x: string): NodeProto | undefined {
  const first = view.next(grown, 'Mul');
  if (first === undefined) return undefined;
  const factor = besides(first, grown.output[0]);
  if (isHalf(view, factor, x)) return first;
  const second = view.next(first, 'Mul', 'Div');
  const other = second && besides(second, first.output[0]);
  if (factor === x && second !== undefined)
    return view.isNumber(other, second.opType === 'Mul' ? 0.5 : 2) ? second : undefined;
  return view.isNumber(factor, 0.5) && second?.opType === 'Mul' && other === x ? second : undefined;
}

/** Return the other input of a node with two inputs. */
const besides = ({ input: [a = '', b = ''] }: NodeProto, name: string | undefined): string =>
  a === name ? b : a;

/** Whether a value is x / 2. */
function isHalf(view: GraphView, name: string, x: string): boolean {
  const node = view.made(name, 'Mul', 'Div');
  const found = node && view.scalarAnd(node);
  return found?.other === x && found.value === (node?.opType === 'Mul' ? 0.5 : 2);
}

/** Return the Add of 1 after a node. */
function plusOne(view: GraphView, node: NodeProto): NodeProto | undefined {
  const add = view.next(node, 'Add');
  return add !== undefined && view.isNumber(besides(add, node.output[0]), 1) ? add : undefined;
}

/** Fuse FastGelu: x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) / 2. */
export function fuseFastGelu(view: GraphView, tanh: NodeProto): void {
  const scaled = view.made(tanh.input[0], 'Mul');
  const factor = scaled && view.scalarAnd(scaled);
  const sum = view.made(factor?.other, 'Add');
  if (factor === undefined || sum === undefined) return;
  if (Math.abs(factor.value - Math.sqrt(2 / Math.PI)) > 1e-6) return;
  for (const [x = '', other = ''] of [sum.input, sum.input.toReversed()]) {
    const term = view.made(other, 'Mul');
    const cubed = term && view.scalarAnd(term);
    if (cubed === undefined || Math.abs(cubed.value - 0.044715) > 1e-7) continue;
    if (isCube(view, cubed.other, x)) replaceBy(view, 'FastGelu', x, plusOne(view, tanh));
  }
}

/** Whether a value is x³. */
function isCube(view: GraphView, name: string, x: string): boolean {
  const power = view.made(name, 'Pow');
  if (power !== undefined) return power.input[0] === x && view.isNumber(power.input[1], 3);
  const product = view.made(name, 'Mul');
  const square = product && view.made(besides(product, x), 'Mul');
  return product?.input.includes(x) === true && square?.input.every((input) => input === x) === true;
}

/** Fuse a constant bias and Gelu into BiasGelu, or a bias into FastGelu. */
export function fuseBiasGelu(view: GraphView, gelu: NodeProto): void {
  const add = view.made(gelu.input[0], 'Add');
  if (add === undefined || gelu.input.length > 1 || view.index.soleUse(add.output[0] ?? '') === undefined)
    return;
  const bias = add.input.find((name) => view.vector(name) !== undefined);
  const x = bias === undefined ? undefined : besides(add, bias);
  const length = view.value(x)?.dims?.at(-1);
  if (bias === undefined || x === undefined || typeof length !== 'number') return;
  if (view.vector(bias, length) === undefined) return;
  const operator = gelu.opType === 'Gelu' ? 'BiasGelu' : 'FastGelu';
  view.replace(gelu, makeNode(operator, [x, bias], gelu.output, { name: gelu.name, domain: microsoft }));
}
