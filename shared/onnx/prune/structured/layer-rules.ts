import { intAttribute, setAttribute } from '../../graph/attributes.ts';
import type { Labels } from './channels.ts';
import { batchAxes, spreadChannels } from './elementwise-rules.ts';
import type { ChannelRule, Site } from './site.ts';

/** Why a layer's weight has to stay as it is; undefined where it may be cut. */
function obstacle(site: Site, position: number): string | undefined {
  if (site.isExcluded) return `${site.label} was excluded`;
  return site.survey.editable(site.node.input[position]) === undefined
    ? `${site.label} has a weight that is not constant`
    : undefined;
}

/** New channels along an axis of a layer's weight. */
function makeChannels(site: Site, position: number, axis: number, count: number): Labels {
  const labels = site.survey.channels.make(count);
  site.cut(position, axis, labels, true);
  site.survey.producers.push({ node: site.node, labels });
  return labels;
}

const repeated = (labels: Labels, times: number): Labels =>
  times === 1
    ? labels
    : Int32Array.from({ length: labels.length * times }, (_, at) => labels[Math.floor(at / times)] ?? 0);

/** Ties the channels that stand at the same place of each group, so that groups stay of equal size. */
function tieGroups({ survey }: Site, labels: Labels, groups: number): Labels {
  const size = labels.length / groups;
  for (const [at, label] of labels.entries()) survey.channels.tie(label, labels[at % size] ?? 0);
  return labels.subarray(0, size);
}

function cutBias(site: Site, labels: Labels): void {
  if (site.isGiven(2)) site.cut(2, 0, labels);
}

/** Depthwise: a filter goes with its input channel, and the number of groups with them. */
function depthwise(site: Site, input: Labels | undefined, outputs: number): void {
  if (input === undefined) return;
  const labels = repeated(input, outputs / input.length);
  site.cut(1, 0, labels, true);
  cutBias(site, labels);
  site.survey.edits.push((remaining) => setAttribute(site.node, 'group', remaining.count(input)));
  site.put(0, { axis: 1, labels });
}

/** ONNX operator Conv: weight [O, I / group, …kernel]. */
const conv: ChannelRule = (site) => {
  const why = obstacle(site, 1);
  if (why !== undefined) return site.lock(why);
  const [outputs, perGroup] = site.survey.constant(site.node.input[1])?.dims ?? [];
  const groups = intAttribute(site.node, 'group', 1);
  const input = site.carried(0);
  if (outputs === undefined || perGroup === undefined) return site.lockAsUnknown();
  if (input !== undefined && (input.axis !== 1 || input.labels.length !== perGroup * groups))
    return site.lockAsUnknown();
  if (groups < 1 || outputs % groups !== 0) return site.lockAsUnknown();
  if (groups > 1 && perGroup === 1) return depthwise(site, input?.labels, outputs);
  if (input !== undefined) site.cut(1, 1, tieGroups(site, input.labels, groups), true);
  const labels = makeChannels(site, 1, 0, outputs);
  tieGroups(site, labels, groups);
  cutBias(site, labels);
  site.put(0, { axis: 1, labels });
};

/** ONNX operator Gemm: A [M, K], B [K, N] or transposed, C broadcast to [M, N]. */
const gemm: ChannelRule = (site) => {
  const why = obstacle(site, 1);
  if (why !== undefined) return site.lock(why);
  const dims = site.survey.constant(site.node.input[1])?.dims ?? [];
  const inner = intAttribute(site.node, 'transB', 0) === 0 ? 0 : 1;
  const input = site.carried(0);
  if (
    dims.length !== 2 ||
    (input !== undefined && (input.axis !== 1 || intAttribute(site.node, 'transA', 0) !== 0))
  )
    return site.lockAsUnknown();
  if (input !== undefined) site.cut(1, inner, input.labels, true);
  const labels = makeChannels(site, 1, 1 - inner, dims[1 - inner] ?? 0);
  const bias = site.dims(2);
  if (site.isGiven(2) && bias === undefined)
    site.survey.channels.lock(labels, `${site.label} adds what is not known`);
  else if (bias !== undefined && (bias.at(-1) ?? 1) !== 1) site.cut(2, bias.length - 1, labels);
  site.put(0, { axis: 1, labels });
};

/** A product of two computed values, as in attention: channels may only lie along axes that it is repeated over. */
function productOfValues(site: Site): void {
  const spread = spreadChannels(site, batchAxes);
  if (spread !== undefined) site.put(0, spread);
}

/** ONNX operator MatMul with a constant at the right: [K, N], or more of them along leading axes. */
const matMul: ChannelRule = (site) => {
  const weight = site.survey.constant(site.node.input[1]);
  const rank = site.rank(0);
  const input = site.carried(0);
  if (weight === undefined || weight.dims.length < 2) return productOfValues(site);
  if (rank === undefined || rank < 2) return site.lockAsUnknown();
  const why = obstacle(site, 1);
  const isRow = input !== undefined && input.axis !== rank - 1;
  if (isRow && weight.dims.length === 2) return site.put(0, input);
  if (why !== undefined) return site.lock(why);
  if (isRow) return site.lockAsUnknown();
  const last = weight.dims.length - 1;
  if (input !== undefined) site.cut(1, last - 1, input.labels, true);
  const labels = makeChannels(site, 1, last, weight.dims[last] ?? 0);
  site.put(0, { axis: Math.max(rank, weight.dims.length) - 1, labels });
};

/** Operators that make channels and use them up. They are asked even if nothing that comes in carries channels. */
export const layerRules: ReadonlyMap<string, ChannelRule> = new Map([
  ['Conv', conv],
  ['Gemm', gemm],
  ['MatMul', matMul],
]);
