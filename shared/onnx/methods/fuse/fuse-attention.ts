import { microsoft } from '../../model/file/model.ts';
import { intAttribute } from '../../model/graph/attributes.ts';
import { makeNode } from '../../model/graph/make-node.ts';
import { nodeName } from '../../model/graph/node-names.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { type AttentionMasks, noMask } from './attention-masks.ts';
import type { GraphView } from './graph-view.ts';
import { type HeadPath, headPath, joinedHeads, unscaled } from './head-paths.ts';
import { packedInput, packWeights } from './packed-weights.ts';

/** softmax(q · kᵀ · factor + mask) · v, as it was found. */
interface Found {
  query: HeadPath;
  key: HeadPath;
  value: HeadPath;
  factor: number;
  mask: string | undefined;
  /** The node that puts the heads together again. */
  last: NodeProto;
}

/** The product of queries and keys in scores, and what is added to it. */
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
    const found = view.made(own.name, 'MatMul');
    const isScores =
      view.rank(mask) === 4 &&
      found !== undefined &&
      headPath(view, found.input[0] ?? '', false) !== undefined;
    if (isScores) return { product: found, factor: own.factor, mask };
  }
  return undefined;
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

/**
 * com.microsoft Attention, where queries, keys and values are products of the same input with constants, otherwise
 * MultiHeadAttention: softmax(q · kᵀ · factor + mask) · v for each head.
 */
export function fuseAttention(view: GraphView, softmax: NodeProto, masks: AttentionMasks): void {
  const found = find(view, softmax);
  if (found === undefined || view.isReplaced(found.last)) return;
  const { query, key, value, factor, last } = found;
  const { heads } = query;
  // As long as the queries, and there whatever becomes of their product.
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
