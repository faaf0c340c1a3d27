import {
  floatsAttribute,
  intAttribute,
  intsAttribute,
  stringAttribute,
} from '../../../../model/graph/attributes.ts';
import { axisOf } from '../../../../model/infer/value.ts';
import { floatsOf } from '../../../../model/tensor/values.ts';
import type { Labels } from '../channels.ts';
import type { Carried } from '../dependency-graph.ts';
import { isSelected, isShuffled, knownOutput, mapReshape, type ReshapeMap } from './reshape-map.ts';
import { type ChannelRule, type RuleContext, settableSize } from './rule-context.ts';

const transpose: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  if (carried === undefined || rank === undefined) return context.lockAsUnknown();
  const perm = intsAttribute(context.node, 'perm') ?? Array.from({ length: rank }, (_, at) => rank - 1 - at);
  const axis = perm.indexOf(carried.axis);
  if (axis < 0) context.lockAsUnknown();
  else context.put(0, { axis, labels: carried.labels });
};

const squeeze: ChannelRule = (context) => {
  const carried = context.carried(0);
  const dims = context.dims(0);
  const axes =
    context.numbers('axes', 1) ??
    (context.isGiven(1) ? undefined : dims?.flatMap((dim, at) => (dim === 1 ? [at] : [])));
  if (carried === undefined || dims === undefined || axes === undefined) return context.lockAsUnknown();
  const gone = new Set(axes.map((axis) => axisOf(axis, dims.length)));
  if (gone.has(carried.axis)) return context.lockAsUnknown();
  const before = [...gone].filter((axis) => axis < carried.axis).length;
  context.put(0, { axis: carried.axis - before, labels: carried.labels });
};

const unsqueeze: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  const axes = context.numbers('axes', 1);
  if (carried === undefined || rank === undefined || axes === undefined) return context.lockAsUnknown();
  const full = rank + axes.length;
  const added = new Set(axes.map((axis) => axisOf(axis, full)));
  const own = Array.from({ length: full }, (_, at) => at).filter((at) => !added.has(at));
  context.put(0, { axis: own[carried.axis] ?? 0, labels: carried.labels });
};

const flatten: ChannelRule = (context) => {
  const carried = context.carried(0);
  const map = carried && reshaped(context, carried, false);
  if (map === undefined) context.lockAsUnknown();
  else context.put(0, { axis: map.axis, labels: map.labels });
};

/** Map channels through a reshape, and tie those that it requires. */
function reshaped(
  context: RuleContext,
  { axis, labels }: Carried,
  samePrefix: boolean,
): (ReshapeMap & Carried) | undefined {
  const from = context.dims(0);
  const to = from && knownOutput(context, from, samePrefix ? axis : 0);
  if (from === undefined || to === undefined) return undefined;
  const { channels } = context.dependencies;
  const map = mapReshape(from, to, axis, labels.length, {
    skipOuter: isShuffled(context, axis) || isSelected(context, axis),
    samePrefix,
    areTied: (a, b) => channels.find(labels[a] ?? 0) === channels.find(labels[b] ?? 0),
  });
  if (map === undefined) return undefined;
  for (const [a, b] of map.ties) channels.tie(labels[a] ?? 0, labels[b] ?? 0);
  return { ...map, labels: map.isWhole ? labels : map.sources.map((at) => labels[at] ?? 0) };
}

const reshape: ChannelRule = (context) => {
  const carried = context.carried(0);
  const counts = context.dependencies.counts.get(context.node.input[1] ?? '') ?? [];
  if (carried !== undefined) {
    const map = reshaped(context, carried, keepsPrefix(context, carried.axis));
    if (map !== undefined && context.isGiven(1) && followShape(context, carried, map)) {
      context.put(0, { axis: map.axis, labels: map.labels });
      return;
    }
  }
  for (const labels of counts)
    context.dependencies.channels.lock(labels ?? [], `${context.label} uses their number as a size`);
  context.lockAsUnknown();
};

/** Whether a Reshape keeps the axes before this one, as 0 or as the same known size. */
function keepsPrefix(context: RuleContext, axis: number): boolean {
  const elements = context.dependencies.value(context.node.input[1])?.elements ?? [];
  const [from, to] = [context.dims(0) ?? [], context.outputDims() ?? []];
  return Array.from({ length: axis }).every(
    (_, at) => elements[at] === 0 || (from[at] !== null && from[at] !== undefined && from[at] === to[at]),
  );
}

/** Whether the shape element of the channel axis follows the number of channels automatically, or can be set. */
function followShape(context: RuleContext, from: Carried, map: ReshapeMap & Carried): boolean {
  const name = context.node.input[1];
  const { dependencies } = context;
  const counts: readonly (Labels | undefined)[] = dependencies.counts.get(name ?? '') ?? [];
  const elements = dependencies.value(name)?.elements ?? [];
  const copies = intAttribute(context.node, 'allowzero', 0) === 0;
  const isForeign = elements.some(
    (element, at) =>
      at !== map.axis && (counts[at] !== undefined || (copies && element === 0 && at === from.axis)),
  );
  if (isForeign) return false;
  const own = counts[map.axis];
  if (own !== undefined) return dependencies.channels.areSame(own, map.labels);
  const element = elements[map.axis];
  if (element === -1) return true;
  if (element === 0 && copies) return map.axis === from.axis && map.isWhole;
  if (typeof element !== 'number') return false;
  const set = settableSize(context, map.axis);
  if (set === undefined) return false;
  dependencies.edits.push((remaining) => {
    const left = remaining.count(map.labels);
    if (left !== map.labels.length) set(left);
  });
  return true;
}

/** Rule of Shape on a value with channels: one of its elements counts them. */
const shapeOf: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  if (carried === undefined || rank === undefined) return context.lockAsUnknown();
  const start = axisOf(intAttribute(context.node, 'start', 0), rank);
  const end = axisOf(intAttribute(context.node, 'end', rank), rank);
  const counts = Array.from({ length: rank }, (_, at) => (at === carried.axis ? carried.labels : undefined));
  put(context, counts.slice(start, end));
};

/** Elements of a shape vector. An element that counts channels has their labels. */
type Counts = readonly (Labels | undefined)[];

function put(context: RuleContext, counts: Counts): void {
  const name = context.node.output[0] ?? '';
  if (counts.some((labels) => labels !== undefined)) context.dependencies.counts.set(name, counts);
}

/** Rule of Resize and Upsample: channels pass if their axis keeps its size. */
const resize: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  if (carried === undefined || rank === undefined) return context.lockAsUnknown();
  if (!keepsAxis(context, carried, rank)) return context.lock(`${context.label} resizes their axis`);
  context.put(0, carried);
};

function keepsAxis(context: RuleContext, { axis, labels }: Carried, rank: number): boolean {
  const { node, dependencies } = context;
  if (stringAttribute(node, 'coordinate_transformation_mode', '') === 'tf_crop_and_resize') return false;
  const axes = intsAttribute(node, 'axes')?.map((one) => axisOf(one, rank));
  const at = axes === undefined || axes.length === 0 ? axis : axes.indexOf(axis);
  if (at < 0) return true;
  // Resize had the scales at input 1 before opset 11, as Upsample has.
  const isOld = node.opType === 'Upsample' || node.input.length < 3;
  const scales = dependencies.constant(node.input[isOld ? 1 : 2]);
  const given = scales === undefined ? floatsAttribute(node, 'scales') : floatsOf(scales);
  if (given !== undefined && given.length > 0) return given[at] === 1;
  return node.input[3] !== undefined && followSize(context, 3, at, labels);
}

/** Let an element of the sizes at an input follow the number of channels. Return false if that is not possible. */
function followSize(context: RuleContext, position: number, at: number, labels: Labels): boolean {
  const { node, dependencies } = context;
  const name = node.input[position] ?? '';
  const own = dependencies.counts.get(name)?.[at];
  if (own !== undefined) return dependencies.channels.areSame(own, labels);
  if (dependencies.value(name)?.elements?.[at] !== labels.length) return false;
  const set = settableSize(context, at, position);
  if (set === undefined) return false;
  dependencies.edits.push((remaining) => {
    const left = remaining.count(labels);
    if (left !== labels.length) set(left);
  });
  return true;
}

/** Rule of Expand: channels pass if the shape has 1 for their axis, or a size that follows their number. */
const expand: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  const name = context.node.input[1] ?? '';
  const sizes = context.dependencies.value(name)?.elements;
  if (carried === undefined || rank === undefined || sizes === undefined) return context.lockAsUnknown();
  const { labels } = carried;
  const at = carried.axis + sizes.length - rank;
  const isForeign = context.dependencies.counts.get(name)?.some((counted, other) => counted && other !== at);
  if (isForeign || !(at < 0 || sizes[at] === 1 || followSize(context, 1, at, labels)))
    return context.lockAsUnknown();
  context.put(0, { axis: Math.max(at, carried.axis), labels });
};

/** Rule of DepthToSpace: the channels that form one output channel go together. */
const depthToSpace: ChannelRule = (context) => {
  const carried = context.carried(0);
  const area = intAttribute(context.node, 'blocksize', 1) ** 2;
  if (carried?.axis !== 1 || carried.labels.length % area !== 0) return context.lockAsUnknown();
  const { channels } = context.dependencies;
  const made = carried.labels.length / area;
  const isRowFirst = stringAttribute(context.node, 'mode', 'DCR') === 'CRD';
  const firsts = Int32Array.from({ length: made }, (_, to) => {
    const sources = Array.from(
      { length: area },
      (_, at) => carried.labels[isRowFirst ? to * area + at : at * made + to] ?? 0,
    );
    for (const source of sources) channels.tie(sources[0] ?? 0, source);
    return sources[0] ?? 0;
  });
  context.put(0, { axis: 1, labels: firsts });
};

/** Rule of SpaceToDepth: each place of a block has all channels. */
const spaceToDepth: ChannelRule = (context) => {
  const carried = context.carried(0);
  if (carried?.axis !== 1) return context.lockAsUnknown();
  const area = intAttribute(context.node, 'blocksize', 1) ** 2;
  const { labels } = carried;
  const repeated = Int32Array.from(
    { length: labels.length * area },
    (_, at) => labels[at % labels.length] ?? 0,
  );
  context.put(0, { axis: 1, labels: repeated });
};

/** Operators that move channels to other axes. */
export const shapeRules: ReadonlyMap<string, ChannelRule> = new Map([
  ['Transpose', transpose],
  ['Squeeze', squeeze],
  ['Unsqueeze', unsqueeze],
  ['Flatten', flatten],
  ['Reshape', reshape],
  ['Shape', shapeOf],
  ['Resize', resize],
  ['Expand', expand],
  ['Upsample', resize],
  ['DepthToSpace', depthToSpace],
  ['SpaceToDepth', spaceToDepth],
]);

/** Input positions at which operators take a shape. */
const shapeInputs: Readonly<Record<string, number>> = { Reshape: 1, Resize: 3, Expand: 1 };

/**
 * Follow channel counts through shape computations. Lock the channels if a node uses such a count in any other
 * way: a smaller number would then change more than a shape.
 */
export function followCounts(context: RuleContext): void {
  const positions = [...context.node.input.keys()].filter((at) => countsAt(context, at) !== undefined);
  if (positions.length === 0 || positions.every((at) => shapeInputs[context.node.opType] === at)) return;
  const counts = taken(context);
  if (counts !== undefined) {
    put(context, counts);
    return;
  }
  for (const at of positions)
    for (const labels of countsAt(context, at) ?? [])
      context.dependencies.channels.lock(labels ?? [], `${context.label} computes with their number`);
}

const countsAt = (context: RuleContext, position: number): Counts | undefined =>
  context.dependencies.counts.get(context.node.input[position] ?? '');

/** Return the elements that a node selects from shapes, in order. Undefined if it does anything else with them. */
function taken(context: RuleContext): Counts | undefined {
  const first = countsAt(context, 0);
  const { opType } = context.node;
  if (opType === 'Concat') {
    const parts = context.node.input.map((name, at): Counts | undefined => {
      const length = context.dependencies.value(name)?.elements?.length ?? context.dims(at)?.[0];
      return (
        countsAt(context, at) ?? (typeof length === 'number' ? new Array(length).fill(undefined) : undefined)
      );
    });
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
  }
  if (first === undefined) return undefined;
  if (opType === 'Gather') {
    const indices = context.dependencies.value(context.node.input[1])?.elements;
    if (intAttribute(context.node, 'axis', 0) !== 0 || indices === undefined) return undefined;
    const known = indices.filter((index) => typeof index === 'number');
    return known.length < indices.length ? undefined : known.map((index) => first.at(index));
  }
  if (opType === 'Slice') {
    const [starts, ends, steps] = [
      context.numbers('starts', 1),
      context.numbers('ends', 2),
      context.numbers('steps', 4) ?? [1],
    ];
    if (starts?.length !== 1 || ends?.length !== 1 || steps[0] !== 1) return undefined;
    return first.slice(starts[0], ends[0]);
  }
  // The product of a single element is the element itself.
  if (opType === 'ReduceProd') return first.length === 1 ? first : undefined;
  // These operators keep all elements.
  if (opType === 'Unsqueeze' || opType === 'Squeeze' || opType === 'Cast' || opType === 'Identity')
    return first;
  return undefined;
}
