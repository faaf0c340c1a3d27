import { microsoft } from '../../model/file/model.ts';
import { intAttribute, intsAttribute } from '../../model/graph/attributes.ts';
import { makeNode, nodeName } from '../../model/graph/graph.ts';
import { isKnown } from '../../model/infer/value.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { dataTypes } from '../../model/tensor/data-type.ts';
import { makeInt64s } from '../../model/tensor/tensor.ts';
import type { GraphView } from './graph-view.ts';
import { packedInput, packWeights } from './packed-weights.ts';

/** A mask in the form of the fused operators. */
interface FusedMask {
  /** Name of a value, int32 [batch, keys], that is 1 for each key that counts; empty if there is none. */
  tokens: string;
  /**
   * Name of the value that is added to the scores, [batch or 1, heads or 1, queries, keys]; empty if there is
   * none.
   */
  bias: string;
  /** Number that is added to the scores of keys that do not count. */
  least: number | undefined;
  /** New nodes that compute the mask. */
  nodes: NodeProto[];
}

const noMask: FusedMask = { tokens: '', bias: '', least: undefined, nodes: [] };

/**
 * Fuse softmax(q · kᵀ · factor + mask) · v of each head. The result is com.microsoft Attention if queries, keys
 * and values are products of the same input with constants, otherwise com.microsoft MultiHeadAttention.
 */
export function fuseAttention(view: GraphView, softmax: NodeProto, masks: AttentionMasks): void {
  const found = find(view, softmax);
  if (found === undefined || view.isReplaced(found.last)) return;
  const { query, key, value, factor, last } = found;
  const { heads } = query;
  // This value has the length of the queries. It exists even if their product is packed.
  const like = packedInput(view, query.name) ?? query.name;
  const mask =
    found.mask === undefined ? noMask : masks.take(view, found.mask, { like, key: key.name, heads });
  if (mask === undefined) return;
  const name = nodeName(last);
  const packed = packWeights(view, [query.name, key.name, value.name], name);
  const inputs =
    packed === undefined
      ? [query.name, key.name, value.name, '', mask.tokens, mask.bias]
      : [packed.input, packed.weight, packed.bias, mask.tokens, '', mask.bias];
  while (inputs.at(-1) === '') inputs.pop();
  const isUneven = packed !== undefined && value.size !== query.size;
  const attributes = {
    num_heads: heads,
    scale: { float: factor },
    ...(mask.least !== undefined && { mask_filter_value: { float: mask.least } }),
    ...(isUneven && { qkv_hidden_sizes: packed.sizes }),
  };
  const operator = packed === undefined ? 'MultiHeadAttention' : 'Attention';
  view.replace(
    last,
    ...mask.nodes,
    makeNode(operator, inputs, last.output, { name, domain: microsoft, attributes }),
  );
}

/** Context of a mask: a value with the length of the queries, the keys, and the number of heads. */
interface Around {
  like: string;
  key: string;
  heads: number;
}

/** Converts the masks of a graph's attentions to the form of the fused operators, each mask once. */
export class AttentionMasks {
  readonly #known = new Map<string, FusedMask>();

  /** Return the mask in the fused operators' form. Undefined if its shape is not known to fit. */
  take(view: GraphView, mask: string, around: Around): FusedMask | undefined {
    const dims = view.value(mask)?.dims ?? [];
    const [length, keys] = [view.value(around.like)?.dims?.[1], view.value(around.key)?.dims?.[1]];
    const isFitting = dims[3] === keys && (dims[1] === 1 || dims[1] === around.heads);
    if (length === undefined || length === null || !isFitting) return undefined;
    const id = `${mask} ${length}`;
    const known = this.#known.get(id);
    if (known !== undefined) return { ...known, nodes: [] };
    const fusedMask = this.#counted(view, mask) ?? this.#added(view, mask, around.like, length);
    if (fusedMask !== undefined) this.#known.set(id, fusedMask);
    return fusedMask;
  }

  #counted(view: GraphView, mask: string): FusedMask | undefined {
    const [batch, heads, queries] = view.value(mask)?.dims ?? [];
    const tokens = tokensOf(view, mask);
    if (tokens === undefined || heads !== 1 || queries !== 1) return undefined;
    if (view.value(tokens.name)?.dims?.[0] !== batch) return undefined;
    const name = view.names.make(`${tokens.name}_int32`);
    const cast = makeNode('Cast', [tokens.name], [name], { name, attributes: { to: dataTypes.int32 } });
    return { tokens: name, bias: '', least: tokens.least, nodes: [cast] };
  }

  #added(view: GraphView, mask: string, like: string, length: number | string): FusedMask | undefined {
    const queries = view.value(mask)?.dims?.[2];
    const plain = { tokens: '', least: undefined };
    if (queries === length && queries !== 1) return { ...plain, bias: mask, nodes: [] };
    if (queries !== 1) return undefined;
    const name = (what: string) => view.names.make(`${mask}_${what}`);
    const put = (what: string, numbers: readonly number[]) =>
      view.graph.put(makeInt64s(name(what), numbers)).name;
    const [shape, size, to, wide] = [name('shape'), name('length'), name('to'), name('wide')];
    const parts = [put('ones', [1, 1]), size, put('one', [1])];
    const nodes = [
      makeNode('Shape', [like], [shape], { name: shape }),
      makeNode('Gather', [shape, put('axis', [1])], [size], { name: size }),
      makeNode('Concat', parts, [to], { name: to, attributes: { axis: 0 } }),
      makeNode('Expand', [mask, to], [wide], { name: wide }),
    ];
    return { ...plain, bias: wide, nodes };
  }
}

/**
 * Find the source of a mask of BERT's kind: a value n [batch, keys] that is 1 for each key that counts, else 0.
 * The mask is computed as (1 − n) · least. Undefined for a mask of another kind.
 */
function tokensOf(view: GraphView, mask: string): { name: string; least: number } | undefined {
  const product = view.made(mask, 'Mul');
  const far = product && view.scalarAnd(product);
  const closed = view.made(far?.other, 'Sub');
  if (far === undefined || closed === undefined || !view.isNumber(closed.input[0], 1)) return undefined;
  let name = closed.input[1] ?? '';
  for (;;) {
    const { type, dims } = view.value(name) ?? {};
    if (dims?.length === 2 && (type === 'int64' || type === 'int32' || type === 'bool'))
      return { name, least: far.value };
    const node = view.made(name, 'Unsqueeze', 'Cast');
    if (node === undefined) return undefined;
    name = node.input[0] ?? '';
  }
}

/** Queries, keys or values before their split into heads. */
interface HeadPath {
  /** The value [batch, sequence, heads · size]. */
  name: string;
  heads: number;
  size: number;
  /** Product of the constant factors between this value and the heads. */
  factor: number;
}

/** A match of softmax(q · kᵀ · factor + mask) · v. */
interface Found {
  query: HeadPath;
  key: HeadPath;
  value: HeadPath;
  factor: number;
  mask: string | undefined;
  /** The node that joins the heads again. */
  last: NodeProto;
}

function find(view: GraphView, softmax: NodeProto): Found | undefined {
  const axis = intAttribute(softmax, 'axis', view.model.opset() < 13 ? 1 : -1);
  const scores = scoresOf(view, softmax.input[0] ?? '');
  const mixed = view.next(softmax, 'MatMul');
  if (scores === undefined || mixed === undefined || mixed.input[0] !== softmax.output[0]) return undefined;
  if (axis !== -1 && axis !== 3) return undefined;
  const query = headPath(view, scores.product.input[0] ?? '', false);
  const key = headPath(view, scores.product.input[1] ?? '', true);
  const value = headPath(view, mixed.input[1] ?? '', false);
  if (query === undefined || key === undefined || value === undefined || value.factor !== 1) return undefined;
  if (query.heads !== key.heads || query.heads !== value.heads || query.size !== key.size) return undefined;
  const last = joinedHeads(view, mixed, value.heads * value.size);
  const factor = scores.factor * query.factor * key.factor;
  return last && { query, key, value, factor, mask: scores.mask, last };
}

/** Find the product of queries and keys in scores, and the mask that is added to it. */
function scoresOf(
  view: GraphView,
  name: string,
): { product: NodeProto; factor: number; mask: string | undefined } | undefined {
  const plain = unscaled(view, name);
  const product = view.made(plain.name, 'MatMul');
  if (product !== undefined) return { product, factor: plain.factor, mask: undefined };
  const add = view.made(name, 'Add');
  for (const [scores = '', mask = ''] of add === undefined ? [] : [add.input, add.input.toReversed()]) {
    const own = unscaled(view, scores);
    const node = view.made(own.name, 'MatMul');
    const isScores =
      view.rank(mask) === 4 && node !== undefined && headPath(view, node.input[0] ?? '', false) !== undefined;
    if (isScores) return { product: node, factor: own.factor, mask };
  }
  return undefined;
}

/** Strip constant scalar factors and divisors from a value. Return the inner value and their product. */
function unscaled(view: GraphView, name: string): { name: string; factor: number } {
  const node = view.made(name, 'Mul', 'Div');
  const found = node && view.scalarAnd(node);
  if (node === undefined || found === undefined || found.value === 0) return { name, factor: 1 };
  if (node.opType === 'Div' && found.other !== node.input[0]) return { name, factor: 1 };
  const inner = unscaled(view, found.other);
  const own = node.opType === 'Mul' ? found.value : 1 / found.value;
  return { name: inner.name, factor: inner.factor * own };
}

/**
 * Follow a value [batch, heads, sequence, size] back to the value before its split into heads. The last two axes
 * may be swapped.
 */
function headPath(view: GraphView, name: string, isTurned: boolean): HeadPath | undefined {
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

const isPerm = (node: NodeProto | undefined, perm: readonly number[]): node is NodeProto =>
  node !== undefined && intsAttribute(node, 'perm')?.join() === perm.join();

/** Return the node that joins the heads into one value [batch, sequence, heads · size]. */
function joinedHeads(view: GraphView, product: NodeProto, width: number): NodeProto | undefined {
  const turn = view.next(product, 'Transpose');
  if (!isPerm(turn, [0, 2, 1, 3])) return undefined;
  const reshape = view.next(turn, 'Reshape');
  const dims = view.value(reshape?.output[0])?.dims;
  return dims?.length === 3 && dims[2] === width ? reshape : undefined;
}
