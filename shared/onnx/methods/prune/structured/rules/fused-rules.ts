import { intAttribute, intsAttribute, setAttribute } from '../../../../model/graph/attributes.ts';
import type { Labels } from '../channels.ts';
import { pass, spread } from './elementwise-rules.ts';
import { conv, gemm, matMulBy, productOfValues } from './layer-rules.ts';
import type { ChannelRule, RuleContext } from './rule-context.ts';

/**
 * Rule of com.microsoft MultiHeadAttention: queries, keys and values [batch, sequence, channels], with one bias
 * for all three.
 */
const multiHeadAttention: ChannelRule = (context) => {
  const { node, dependencies } = context;
  const heads = intAttribute(node, 'num_heads', 0);
  const [query, key, value] = [context.carried(0), context.carried(1), context.carried(2)];
  const parts = [query, key, value].flatMap((one) =>
    one?.axis === 2 && Number.isInteger(one.labels.length / heads) ? [one.labels] : [],
  );
  if (parts.length < 3 || value === undefined || context.allCarried().length > 3)
    return context.lockAsUnknown();
  const why = fixedHeads(context, [6, 7], 5);
  if (why !== undefined || context.isExcluded) return context.lock(why ?? `${context.label} was excluded`);
  const first = parts[0] ?? value.labels;
  const size = first.length / heads;
  for (const labels of parts) {
    const own = labels.length / heads;
    for (const [at, label] of labels.entries())
      dependencies.channels.tie(label, first[Math.floor(at / own) * size] ?? 0);
  }
  if (context.isGiven(3)) context.cut(3, 0, Int32Array.from(parts.flatMap((labels) => [...labels])));
  const ofHeads = first.filter((_, at) => at % size === 0);
  dependencies.edits.push((remaining) => setAttribute(node, 'num_heads', remaining.count(ofHeads)));
  context.put(0, { axis: 2, labels: value.labels });
};

/**
 * Return the reason why heads cannot be removed from an attention: it takes keys of earlier tokens, outputs its
 * keys, or has a bias for each head. Undefined if they can be removed.
 */
function fixedHeads(context: RuleContext, past: readonly number[], bias: number): string | undefined {
  const { node, label } = context;
  if (past.some((at) => context.isGiven(at))) return `${label} has keys of earlier tokens as input`;
  if (node.output.slice(1).some((name) => name !== '')) return `${label} returns its keys`;
  if (context.isGiven(bias) && context.dims(bias)?.[1] !== 1) return `${label} has a bias for each head`;
  return undefined;
}

const locked: ChannelRule = (context) => context.lock(`${context.label} computes over all of them`);

/** Operators of ONNX Runtime's own domain that are no layers, and MultiHeadAttention. */
export const fusedRules: ReadonlyMap<string, ChannelRule> = new Map([
  ['MultiHeadAttention', multiHeadAttention],
  ...['Gelu', 'QuickGelu'].map((name): [string, ChannelRule] => [name, pass]),
  ...['FastGelu', 'BiasGelu', 'BiasAdd'].map((name): [string, ChannelRule] => [name, spread]),
  ...['SkipLayerNormalization', 'SkipSimplifiedLayerNormalization'].map((name): [string, ChannelRule] => [
    name,
    locked,
  ]),
]);

/** Expand one label per head to all channels of the head. */
const byHead = (heads: Labels, channels: number): Labels =>
  Int32Array.from({ length: channels }, (_, at) => heads[Math.floor((at * heads.length) / channels)] ?? 0);

/**
 * Rule of com.microsoft Attention: input [batch, sequence, I], weights [I, Q + K + V] and bias [Q + K + V] of all
 * heads.
 */
const attention: ChannelRule = (context) => {
  const { node, dependencies } = context;
  const weight = dependencies.constant(node.input[1]);
  const [inputs, all = 0] = weight?.dims ?? [];
  const heads = intAttribute(node, 'num_heads', 0);
  const sizes = intsAttribute(node, 'qkv_hidden_sizes') ?? [all / 3, all / 3, all / 3];
  const input = context.carried(0);
  const isUneven = sizes.some((size) => !Number.isInteger(size / heads));
  const isOther = input !== undefined && (input.axis !== 2 || input.labels.length !== inputs);
  if (context.allCarried().length > (input === undefined ? 0 : 1) || isUneven || isOther)
    return context.lockAsUnknown();
  if (context.isExcluded || dependencies.editable(node.input[1]) === undefined)
    return context.lock(
      `${context.label} ${context.isExcluded ? 'was excluded' : 'has no constant weights'}`,
    );
  if (input !== undefined) context.cut(1, 0, input.labels, true);
  const own = dependencies.channels.make(heads);
  const labels = Int32Array.from(sizes.flatMap((size) => [...byHead(own, size)]));
  context.cut(1, 1, labels, true);
  if (context.isGiven(2)) context.cut(2, 0, labels);
  dependencies.producers.push({ node, labels: own });
  const why = fixedHeads(context, [4], 5);
  if (why !== undefined) dependencies.channels.lock(own, why);
  dependencies.edits.push((remaining) => {
    const left = remaining.count(own);
    setAttribute(node, 'num_heads', left);
    if (intsAttribute(node, 'qkv_hidden_sizes') !== undefined)
      setAttribute(
        node,
        'qkv_hidden_sizes',
        sizes.map((size) => (size / heads) * left),
      );
  });
  context.put(0, { axis: 2, labels: byHead(own, sizes[2] ?? 0) });
};

/** Rule of com.microsoft FusedConv: a convolution with an optional addend and an activation. */
const fusedConv: ChannelRule = (context) => {
  const added = context.carried(3);
  conv(context);
  if (!context.isGiven(3)) return;
  const made = context.dependencies.carried.get(context.node.output[0] ?? '');
  const { channels } = context.dependencies;
  const isFitting = added?.axis === 1 && added.labels.length === made?.labels.length;
  if (made !== undefined && isFitting) channels.tieAll(added.labels, made.labels);
  else {
    channels.lock(added?.labels ?? [], `${context.label} is not supported in this form`);
    channels.lock(made?.labels ?? [], `${context.label} combines them with a value of fixed size`);
  }
};

/** Rule of com.microsoft FusedMatMul: a product with a factor and optionally transposed operands. */
const fusedMatMul: ChannelRule = (context) => {
  const { node, dependencies } = context;
  const is = (name: string) => intAttribute(node, name, 0) !== 0;
  if (is('transBatchA') || is('transBatchB')) return context.lockAsUnknown();
  const weight = dependencies.constant(node.input[1]);
  if (weight === undefined) return productOfValues(context);
  if (is('transA') || (is('transB') && weight.dims.length !== 2)) return context.lockAsUnknown();
  matMulBy(is('transB'))(context);
};

/** Layers of ONNX Runtime's own domain that produce channels. */
export const fusedLayerRules: ReadonlyMap<string, ChannelRule> = new Map([
  ['Attention', attention],
  ['FusedConv', fusedConv],
  ['FusedGemm', gemm],
  ['FusedMatMul', fusedMatMul],
]);
