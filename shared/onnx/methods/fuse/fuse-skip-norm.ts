import { microsoft } from '../../model/file/model.ts';
import { floatAttribute, intAttribute } from '../../model/graph/attributes.ts';
import { makeNode } from '../../model/graph/make-node.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { GraphView } from './graph-view.ts';

/** Whether two values have the same three dimensions, so that nothing is spread in their sum. */
function areAlike(view: GraphView, a: string, b: string): boolean {
  const [x, y] = [view.value(a)?.dims, view.value(b)?.dims];
  return x?.length === 3 && y?.length === 3 && x.every((dim, at) => dim !== null && dim === y[at]);
}

/** What is added to a product's result before, where that is a constant bias that nothing else uses. */
function biasOf(view: GraphView, name: string, size: number): { x: string; bias: string } | undefined {
  const add = view.made(name, 'Add');
  if (add === undefined || view.index.soleUse(name) === undefined) return undefined;
  const bias = add.input.find((input) => view.vector(input, size) !== undefined);
  const x = add.input.find((input) => input !== bias);
  return bias === undefined || x === undefined || view.rank(x) !== 3 ? undefined : { x, bias };
}

/**
 * SkipLayerNormalization: the sum of two values of three axes, with a bias added to one of them, and LayerNormalization
 * over the last axis. The sum stays an output where others use it.
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
  // A bias in the sum is part of it: others that use the sum get the same.
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
    // It stands where the sum stood, before whoever uses it.
    view.replace(add, fused);
    view.replace(norm);
  }
}
