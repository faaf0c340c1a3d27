import { intAttribute, setAttribute } from '../../../../model/graph/attributes.ts';
import { axisOf } from '../../../../model/infer/value.ts';
import type { ChannelRule, RuleContext } from './rule-context.ts';

/**
 * Rule of operators that process each channel on axis 1 separately, with per-channel constants at these inputs.
 */
const perChannel =
  (constants: readonly number[]): ChannelRule =>
  (context) => {
    const carried = context.carried(0);
    const isTraining = intAttribute(context.node, 'training_mode', 0) !== 0;
    const isStatistics = context.node.output
      .slice(1)
      .some((name) => context.dependencies.index.uses(name).length > 0);
    if (carried?.axis !== 1 || isTraining || isStatistics) {
      context.lockAsUnknown();
      return;
    }
    for (const position of constants) context.cut(position, 0, carried.labels);
    context.put(0, carried);
  };

/**
 * Remove whole groups of a GroupNormalization only. Removing a single channel would change the statistics of its
 * group.
 */
const groupNormalization: ChannelRule = (context) => {
  const carried = context.carried(0);
  const groups = intAttribute(context.node, 'num_groups', 0);
  const size = (carried?.labels.length ?? 0) / groups;
  if (carried?.axis !== 1 || !Number.isInteger(size)) {
    context.lockAsUnknown();
    return;
  }
  const { labels } = carried;
  for (const [at, label] of labels.entries())
    context.dependencies.channels.tie(label, labels[at - (at % size)] ?? 0);
  const ofGroups = labels.filter((_, at) => at % size === 0);
  // Scale and bias are per group before opset 21, and per channel from opset 21 on.
  for (const position of [1, 2])
    context.cut(position, 0, context.dims(position)?.[0] === groups && size > 1 ? ofGroups : labels);
  context.dependencies.edits.push((remaining) =>
    setAttribute(context.node, 'num_groups', remaining.count(ofGroups)),
  );
  context.put(0, carried);
};

/**
 * Rule of operators that compute over some axes. Channels along other axes pass. Channels along these axes are
 * locked.
 */
const over =
  (isWithin: (context: RuleContext, axis: number, rank: number) => boolean | undefined): ChannelRule =>
  (context) => {
    const carried = context.carried(0);
    const rank = context.rank(0);
    const within = carried && rank && isWithin(context, carried.axis, rank);
    if (carried !== undefined && within === false) context.putAll(carried);
    else context.lock(`${context.label} computes over all of them`);
  };

const softmax = over((context, axis, rank) => {
  const isFlattening = context.dependencies.model.opset() < 13;
  const from = axisOf(intAttribute(context.node, 'axis', isFlattening ? 1 : -1), rank);
  return isFlattening ? axis >= from : axis === from;
});

const layerNormalization = over(
  (context, axis, rank) =>
    axis >= axisOf(intAttribute(context.node, 'axis', -1), rank) ||
    context.node.input
      .slice(1)
      .some((name) => context.dependencies.constant(name) === undefined && name !== '') ||
    context.node.output.slice(1).some((name) => name !== ''),
);

const always = over(() => true);

/** Rule of reductions. Without `keepdims`, the remaining axes move up. */
const reduce: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  const axes = context.numbers('axes', 1);
  if (carried === undefined || rank === undefined || axes === undefined) {
    context.lock(`${context.label} computes over all of them`);
    return;
  }
  const reduced = axes.map((axis) => axisOf(axis, rank));
  if (reduced.length === 0 || reduced.includes(carried.axis)) {
    context.lock(`${context.label} computes over all of them`);
    return;
  }
  const isKept = intAttribute(context.node, 'keepdims', 1) !== 0;
  const before = isKept ? 0 : new Set(reduced.filter((axis) => axis < carried.axis)).size;
  context.put(0, { axis: carried.axis - before, labels: carried.labels });
};

/**
 * Rule of pools, which keep batch and channel axes. A second output is refused: its positions depend on the number
 * of channels.
 */
const pool: ChannelRule = (context) => {
  const carried = context.carried(0);
  if (
    carried === undefined ||
    carried.axis > 1 ||
    context.node.output.some((name, at) => at > 0 && name !== '')
  )
    context.lockAsUnknown();
  else context.put(0, carried);
};

const table = (names: string, rule: ChannelRule): [string, ChannelRule][] =>
  names.split(' ').map((name) => [name, rule]);

/** Operators that normalize, pool or reduce. */
export const normRules: ReadonlyMap<string, ChannelRule> = new Map([
  ['BatchNormalization', perChannel([1, 2, 3, 4])],
  ['InstanceNormalization', perChannel([1, 2])],
  ['GroupNormalization', groupNormalization],
  ...table('Softmax LogSoftmax Hardmax', softmax),
  ...table('LayerNormalization RMSNormalization SimplifiedLayerNormalization', layerNormalization),
  ...table('LRN LpNormalization MeanVarianceNormalization ArgMax ArgMin', always),
  ...table(
    'ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare',
    reduce,
  ),
  ...table('MaxPool AveragePool LpPool GlobalAveragePool GlobalMaxPool GlobalLpPool', pool),
]);
