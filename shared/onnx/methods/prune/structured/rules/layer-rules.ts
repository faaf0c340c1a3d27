import { intAttribute, setAttribute } from '../../../../model/graph/attributes.ts';
import type { Labels } from '../channels.ts';
import { batchAxes, spreadChannels } from './elementwise-rules.ts';
import { recurrentRules } from './recurrent-rules.ts';
import type { ChannelRule, RuleContext } from './rule-context.ts';

const repeated = (labels: Labels, times: number): Labels =>
  times === 1
    ? labels
    : Int32Array.from({ length: labels.length * times }, (_, at) => labels[Math.floor(at / times)] ?? 0);

/** Rule of Conv: weight [O, I / group, …kernel]. */
export const conv: ChannelRule = (context) => {
  const why = obstacle(context, 1);
  if (why !== undefined) return context.lock(why);
  const [outputs, perGroup] = context.dependencies.constant(context.node.input[1])?.dims ?? [];
  const groups = intAttribute(context.node, 'group', 1);
  const input = context.carried(0);
  if (outputs === undefined || perGroup === undefined) return context.lockAsUnknown();
  if (input !== undefined && (input.axis !== 1 || input.labels.length !== perGroup * groups))
    return context.lockAsUnknown();
  if (groups < 1 || outputs % groups !== 0) return context.lockAsUnknown();
  if (groups > 1 && perGroup === 1) return depthwise(context, input?.labels, outputs);
  if (input !== undefined) context.cut(1, 1, tieGroups(context, input.labels, groups), true);
  const labels = makeChannels(context, 1, 0, outputs);
  tieGroups(context, labels, groups);
  cutBias(context, labels);
  context.put(0, { axis: 1, labels });
};

/** Return the reason why a layer's weight cannot be cut. Undefined if it can be cut. */
function obstacle(context: RuleContext, position: number): string | undefined {
  if (context.isExcluded) return `${context.label} was excluded`;
  return context.dependencies.editable(context.node.input[position]) === undefined
    ? `${context.label} has a weight that is not constant`
    : undefined;
}

/** Depthwise convolution: remove the filters of a removed input channel, and reduce the number of groups. */
function depthwise(context: RuleContext, input: Labels | undefined, outputs: number): void {
  if (input === undefined) return;
  const labels = repeated(input, outputs / input.length);
  context.cut(1, 0, labels, true);
  cutBias(context, labels);
  context.dependencies.edits.push((remaining) => setAttribute(context.node, 'group', remaining.count(input)));
  context.put(0, { axis: 1, labels });
}

function cutBias(context: RuleContext, labels: Labels): void {
  if (context.isGiven(2)) context.cut(2, 0, labels);
}

/** Tie the channels at the same place of each group. This keeps groups at equal size. */
function tieGroups({ dependencies }: RuleContext, labels: Labels, groups: number): Labels {
  const size = labels.length / groups;
  for (const [at, label] of labels.entries()) dependencies.channels.tie(label, labels[at % size] ?? 0);
  return labels.subarray(0, size);
}

/** Create channels along an axis of a layer's weight. */
function makeChannels(context: RuleContext, position: number, axis: number, count: number): Labels {
  const labels = context.dependencies.channels.make(count);
  context.cut(position, axis, labels, true);
  context.dependencies.producers.push({ node: context.node, labels });
  return labels;
}

/** Rule of ConvTranspose: weight [I, O / group, …kernel]. */
export const convTranspose: ChannelRule = (context) => {
  const why = obstacle(context, 1);
  if (why !== undefined) return context.lock(why);
  const [inputs, perGroup] = context.dependencies.constant(context.node.input[1])?.dims ?? [];
  const groups = intAttribute(context.node, 'group', 1);
  const input = context.carried(0);
  if (inputs === undefined || perGroup === undefined) return context.lockAsUnknown();
  if (input !== undefined && (input.axis !== 1 || input.labels.length !== inputs))
    return context.lockAsUnknown();
  if (groups < 1 || inputs % groups !== 0) return context.lockAsUnknown();
  if (groups > 1 && groups === inputs) return depthwiseTranspose(context, input?.labels, perGroup);
  if (input !== undefined) {
    tieGroups(context, input.labels, groups);
    context.cut(1, 0, input.labels, true);
  }
  const labels = context.dependencies.channels.make(perGroup * groups);
  context.cut(1, 1, tieGroups(context, labels, groups), true);
  context.dependencies.producers.push({ node: context.node, labels });
  cutBias(context, labels);
  context.put(0, { axis: 1, labels });
};

/**
 * Depthwise transposed convolution: remove the filters of a removed input channel, and reduce the number of
 * groups.
 */
function depthwiseTranspose(context: RuleContext, input: Labels | undefined, perGroup: number): void {
  if (input === undefined) return;
  const labels = repeated(input, perGroup);
  context.cut(1, 0, input, true);
  cutBias(context, labels);
  context.dependencies.edits.push((remaining) => setAttribute(context.node, 'group', remaining.count(input)));
  context.put(0, { axis: 1, labels });
}

/** Rule of Gemm: A [M, K], B [K, N] or transposed, C broadcast to [M, N]. */
export const gemm: ChannelRule = (context) => {
  const why = obstacle(context, 1);
  if (why !== undefined) return context.lock(why);
  const dims = context.dependencies.constant(context.node.input[1])?.dims ?? [];
  const inner = intAttribute(context.node, 'transB', 0) === 0 ? 0 : 1;
  const input = context.carried(0);
  if (
    dims.length !== 2 ||
    (input !== undefined && (input.axis !== 1 || intAttribute(context.node, 'transA', 0) !== 0))
  )
    return context.lockAsUnknown();
  if (input !== undefined) context.cut(1, inner, input.labels, true);
  const labels = makeChannels(context, 1, 1 - inner, dims[1 - inner] ?? 0);
  const bias = context.dims(2);
  if (context.isGiven(2) && bias === undefined)
    context.dependencies.channels.lock(labels, `${context.label} adds an unknown value`);
  else if (bias !== undefined && (bias.at(-1) ?? 1) !== 1) context.cut(2, bias.length - 1, labels);
  context.put(0, { axis: 1, labels });
};

/**
 * Rule of MatMul with a constant right operand: [K, N], optionally with leading batch axes, or [N, K] if it is
 * transposed, which FusedMatMul allows.
 */
export const matMulBy =
  (isTransposed: boolean): ChannelRule =>
  (context) => {
    const weight = context.dependencies.constant(context.node.input[1]);
    const rank = context.rank(0);
    const input = context.carried(0);
    if (weight === undefined || weight.dims.length < 2) return productOfValues(context);
    if (rank === undefined || rank < 2) return context.lockAsUnknown();
    const why = obstacle(context, 1);
    const isRow = input !== undefined && input.axis !== rank - 1;
    if (isRow && weight.dims.length === 2) return context.put(0, input);
    if (why !== undefined) return context.lock(why);
    if (isRow) return context.lockAsUnknown();
    const last = weight.dims.length - 1;
    const [inner, outer] = isTransposed ? [last, last - 1] : [last - 1, last];
    if (input !== undefined) context.cut(1, inner, input.labels, true);
    const labels = makeChannels(context, 1, outer, weight.dims[outer] ?? 0);
    context.put(0, { axis: Math.max(rank, weight.dims.length) - 1, labels });
  };

/**
 * Rule of a product of two computed values, as in attention. Channels may lie along batch axes, along the rows or
 * columns of the result, or along the summed axis of both values, where they end.
 */
export function productOfValues(context: RuleContext): void {
  if (context.node.domain === '' && alongMatrix(context)) return;
  const spread = spreadChannels(context, batchAxes);
  if (spread !== undefined) context.put(0, spread);
}

/** Follow channels along the axes of the matrices. Return false if they lie elsewhere, or on axes that do not fit. */
function alongMatrix(context: RuleContext): boolean {
  const [rankA = 0, rankB = 0] = [context.rank(0), context.rank(1)];
  const [a, b] = [context.carried(0), context.carried(1)];
  if (rankA < 2 || rankB < 2) return false;
  const rank = Math.max(rankA, rankB);
  if (a !== undefined && b !== undefined) {
    const isSummed = a.axis === rankA - 1 && b.axis === rankB - 2 && a.labels.length === b.labels.length;
    if (isSummed) context.dependencies.channels.tieAll(a.labels, b.labels);
    return isSummed;
  }
  const [isRow, isColumn] = [a?.axis === rankA - 2, b?.axis === rankB - 1];
  const axis = isRow ? rank - 2 : rank - 1;
  const labels = (a ?? b)?.labels;
  if (labels === undefined || !(isRow || isColumn)) return false;
  context.put(0, { axis, labels });
  return true;
}

/** Operators that produce and consume channels. Their rules run even if no input has removable channels. */
export const layerRules: ReadonlyMap<string, ChannelRule> = new Map([
  ['Conv', conv],
  ['ConvTranspose', convTranspose],
  ['Gemm', gemm],
  ['MatMul', matMulBy(false)],
  ...recurrentRules,
]);
