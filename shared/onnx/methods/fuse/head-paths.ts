import { intsAttribute } from '../../model/graph/attributes.ts';
import { isKnown } from '../../model/infer/value.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { GraphView } from './graph-view.ts';

/** Queries, keys or values before they are taken apart into heads. */
export interface HeadPath {
  /** The value [batch, sequence, heads · size]. */
  name: string;
  heads: number;
  size: number;
  /** By what it was multiplied on the way. */
  factor: number;
}

/** A value without the constant scalars that it is multiplied with or divided by. */
export function unscaled(view: GraphView, name: string): { name: string; factor: number } {
  const node = view.made(name, 'Mul', 'Div');
  const found = node && view.scalarAnd(node);
  if (node === undefined || found === undefined || found.value === 0) return { name, factor: 1 };
  if (node.opType === 'Div' && found.other !== node.input[0]) return { name, factor: 1 };
  const inner = unscaled(view, found.other);
  const own = node.opType === 'Mul' ? found.value : 1 / found.value;
  return { name: inner.name, factor: inner.factor * own };
}

const isPerm = (node: NodeProto | undefined, perm: readonly number[]): node is NodeProto =>
  node !== undefined && intsAttribute(node, 'perm')?.join() === perm.join();

/** Back from [batch, heads, sequence, size], or with the last two axes exchanged, to the value before its heads. */
export function headPath(view: GraphView, name: string, isTurned: boolean): HeadPath | undefined {
  const outer = unscaled(view, name);
  let at = outer.name;
  if (isTurned) {
    const turn = view.made(at, 'Transpose');
    if (isPerm(turn, [0, 1, 3, 2])) {
      const path = headPath(view, turn.input[0] ?? '', false);
      return path && { ...path, factor: path.factor * outer.factor };
    }
  }
  const turn = view.made(at, 'Transpose');
  if (!isPerm(turn, isTurned ? [0, 2, 3, 1] : [0, 2, 1, 3])) return undefined;
  const inner = unscaled(view, turn.input[0] ?? '');
  const reshape = view.made(inner.name, 'Reshape');
  const before = reshape?.input[0] ?? '';
  const dims = view.value(inner.name)?.dims;
  const [heads, size] = [dims?.[2], dims?.[3]];
  const width = view.value(before)?.dims?.at(-1);
  if (reshape === undefined || dims?.length !== 4 || view.rank(before) !== 3) return undefined;
  if (!isKnown(heads) || !isKnown(size) || width !== heads * size) return undefined;
  at = before;
  return { name: at, heads, size, factor: inner.factor * outer.factor };
}

/** The value [batch, sequence, heads · size] that heads are put together to; the node that makes it. */
export function joinedHeads(view: GraphView, product: NodeProto, width: number): NodeProto | undefined {
  const turn = view.next(product, 'Transpose');
  if (!isPerm(turn, [0, 2, 1, 3])) return undefined;
  const reshape = view.next(turn, 'Reshape');
  const dims = view.value(reshape?.output[0])?.dims;
  return dims?.length === 3 && dims[2] === width ? reshape : undefined;
}
