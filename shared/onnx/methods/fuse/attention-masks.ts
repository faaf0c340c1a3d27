import { makeNode } from '../../model/graph/make-node.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { dataTypes } from '../../model/tensor/data-type.ts';
import { makeInt64s } from '../../model/tensor/tensor.ts';
import type { GraphView } from './graph-view.ts';

/** A mask as the fused operators take it. */
export interface FusedMask {
  /** 1 for each key that counts, int32 [batch, keys]; empty for none. */
  tokens: string;
  /** What is added to the scores, [batch or 1, heads or 1, queries, keys]; empty for nothing. */
  bias: string;
  /** What is added to the scores of keys that do not count. */
  least: number | undefined;
  /** Nodes that are new. */
  nodes: NodeProto[];
}

export const noMask: FusedMask = { tokens: '', bias: '', least: undefined, nodes: [] };

/** What a mask goes with: a value as long as the queries, the keys, and the number of heads. */
interface Around {
  like: string;
  key: string;
  heads: number;
}

/** The whole numbers [batch, keys], 1 or 0, of which (1 − n) · least is made; BERT's mask. */
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

/** The masks of a graph's attentions, each brought once into the form that the fused operators want. */
export class AttentionMasks {
  readonly #known = new Map<string, FusedMask>();

  /** Undefined where the shape of a mask is not known to fit. */
  take(view: GraphView, mask: string, around: Around): FusedMask | undefined {
    const dims = view.value(mask)?.dims ?? [];
    const [length, keys] = [view.value(around.like)?.dims?.[1], view.value(around.key)?.dims?.[1]];
    const isFitting = dims[3] === keys && (dims[1] === 1 || dims[1] === around.heads);
    if (length === undefined || length === null || !isFitting) return undefined;
    const id = `${mask} ${length}`;
    const known = this.#known.get(id);
    if (known !== undefined) return { ...known, nodes: [] };
    const made = this.#counted(view, mask) ?? this.#added(view, mask, around.like, length);
    if (made !== undefined) this.#known.set(id, made);
    return made;
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
