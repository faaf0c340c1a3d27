import {
  floatAttribute,
  intAttribute,
  intsAttribute,
  removeAttribute,
  setAttribute,
  stringAttribute,
} from '../../../../model/graph/attributes.ts';
import { axisOf, isKnown } from '../../../../model/infer/value.ts';
import { floatsOf, isFloatTensor } from '../../../../model/tensor/values.ts';
import { fixedLabel, type Labels } from '../channels.ts';
import type { Carried } from '../dependency-graph.ts';
import { type ChannelRule, type RuleContext, setNumbers } from './rule-context.ts';

const concat: ChannelRule = (context) => {
  const all = context.allCarried();
  const [first] = all;
  const rank = context.node.input.map((_, at) => context.rank(at)).find((known) => known !== undefined);
  if (first === undefined || rank === undefined || all.some(({ axis }) => axis !== first.axis))
    return context.lockAsUnknown();
  const axis = axisOf(intAttribute(context.node, 'axis', 0), rank);
  if (axis === first.axis) {
    const labels = joined(context, axis);
    return labels === undefined ? context.lockAsUnknown() : context.put(0, { axis, labels });
  }
  // Inputs that are joined along another axis share their channels.
  if (all.length < context.node.input.length) return context.lockAsUnknown();
  for (const { labels } of all) context.dependencies.channels.tieAll(labels, first.labels);
  context.put(0, first);
};

/** Concatenate the channels of all inputs. Inputs without removable channels get fixed labels. */
function joined(context: RuleContext, axis: number): Labels | undefined {
  const parts = context.node.input.map((_, at): Labels | undefined => {
    const size = context.dims(at)?.[axis];
    return context.carried(at)?.labels ?? (isKnown(size) ? new Int32Array(size).fill(fixedLabel) : undefined);
  });
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length) return undefined;
  return Int32Array.from(known.flatMap((part) => [...part]));
}

const split: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  if (carried === undefined || rank === undefined) return context.lockAsUnknown();
  if (axisOf(intAttribute(context.node, 'axis', 0), rank) !== carried.axis) return context.putAll(carried);
  const { axis, labels } = carried;
  const parts = context.node.output.length;
  const even = Math.ceil(labels.length / parts);
  const given = context.numbers('split', 1);
  const isMovable = !context.isGiven(1) || context.dependencies.constant(context.node.input[1]) !== undefined;
  const sizes =
    given ?? context.node.output.map((_, at) => Math.max(0, Math.min(even, labels.length - at * even)));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (!isMovable || total !== labels.length || sizes.length !== parts) return context.lockAsUnknown();
  let start = 0;
  const pieces = sizes.map((size) => {
    start += size;
    return labels.subarray(start - size, start);
  });
  for (const [at, piece] of pieces.entries()) context.put(at, { axis, labels: piece });
  context.dependencies.edits.push((remaining) => {
    const left = pieces.map((piece) => remaining.count(piece));
    if (left.every((size, at) => size === sizes[at])) return;
    removeAttribute(context.node, 'num_outputs');
    if (context.dependencies.model.opset() < 13) setAttribute(context.node, 'split', left);
    else setNumbers(context.dependencies, context.node, 1, left);
  });
};

const slice: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  if (carried === undefined || rank === undefined) return context.lockAsUnknown();
  const range = rangeOf(context, carried, rank);
  if (range === null) return context.put(0, carried);
  const bounds = boundsOf(context);
  if (range === undefined || bounds === undefined || range.end <= range.start) return context.lockAsUnknown();
  const before = carried.labels.subarray(0, range.start);
  const labels = carried.labels.subarray(range.start, range.end);
  context.put(0, { axis: carried.axis, labels });
  context.dependencies.edits.push((remaining) => {
    const start = remaining.count(before);
    const starts = bounds.starts.with(range.at, start);
    const ends = bounds.ends.with(range.at, start + remaining.count(labels));
    if (context.isGiven(1)) {
      setNumbers(context.dependencies, context.node, 1, starts);
      setNumbers(context.dependencies, context.node, 2, ends);
    } else {
      setAttribute(context.node, 'starts', starts);
      setAttribute(context.node, 'ends', ends);
    }
  });
};

interface Range {
  at: number;
  start: number;
  end: number;
}

/**
 * Return the part of an axis that a Slice takes. Undefined if the part is not constant, null if the Slice takes
 * the whole axis.
 */
function rangeOf(context: RuleContext, { axis, labels }: Carried, rank: number): Range | null | undefined {
  const starts = context.numbers('starts', 1);
  const ends = context.numbers('ends', 2);
  const axes = context.numbers('axes', 3) ?? starts?.map((_, at) => at);
  const steps = context.numbers('steps', 4);
  const isUnknown = (position: number, numbers: unknown) =>
    context.isGiven(position) && numbers === undefined;
  if (axes === undefined || isUnknown(3, context.numbers('axes', 3)) || isUnknown(4, steps)) return undefined;
  const at = axes.findIndex((one) => axisOf(one, rank) === axis);
  if (at < 0) return null;
  const [start, end, step] = [starts?.[at], ends?.[at], steps?.[at] ?? 1];
  if (start === undefined || end === undefined || step !== 1) return undefined;
  const within = (place: number): number =>
    Math.min(labels.length, Math.max(0, place < 0 ? place + labels.length : place));
  return { at, start: within(start), end: within(end) };
}

/** Return the bounds of a slice if they can be changed. They must be attributes or constant inputs. */
function boundsOf(context: RuleContext): { starts: number[]; ends: number[] } | undefined {
  const isOld = !context.isGiven(1);
  if (isOld) {
    const [starts, ends] = [intsAttribute(context.node, 'starts'), intsAttribute(context.node, 'ends')];
    return starts && ends && { starts, ends };
  }
  const isConstant = [1, 2].every(
    (at) => context.dependencies.constant(context.node.input[at]) !== undefined,
  );
  const [starts, ends] = [context.numbers('starts', 1), context.numbers('ends', 2)];
  return isConstant && starts && ends ? { starts, ends } : undefined;
}

const gather: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  const indices = context.rank(1);
  if (
    carried === undefined ||
    rank === undefined ||
    indices === undefined ||
    context.carried(1) !== undefined
  )
    return context.lockAsUnknown();
  const axis = axisOf(intAttribute(context.node, 'axis', 0), rank);
  if (axis === carried.axis) return context.lock(`${context.label} selects among them by index`);
  context.put(0, {
    axis: carried.axis > axis ? carried.axis + indices - 1 : carried.axis,
    labels: carried.labels,
  });
};

/**
 * Rule of Pad: channels pass if their axis gets no padding, and if the padding is zero like the channels that go. If the
 * pads are computed, the next layer tells the number of its input channels.
 */
const pad: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  if (carried === undefined || rank === undefined) return context.lockAsUnknown();
  if (!padsZeros(context)) return context.lock(`${context.label} pads them with a value that may not be 0`);
  const { axis, labels } = carried;
  const pads = context.numbers('pads', 1);
  const axes = context.isGiven(3)
    ? context.numbers('axes', 3)?.map((axis) => axisOf(axis, rank))
    : Array.from({ length: rank }, (_, at) => at);
  const at = axes?.indexOf(axis) ?? 0;
  const isKept =
    pads !== undefined && axes !== undefined
      ? at < 0 || (pads[at] === 0 && pads[at + axes.length] === 0)
      : neededChannels(context, axis) === labels.length;
  if (isKept) context.put(0, carried);
  else context.lockAsUnknown();
};

function padsZeros(context: RuleContext): boolean {
  const { node, dependencies } = context;
  if (stringAttribute(node, 'mode', 'constant') !== 'constant') return true;
  if (!context.isGiven(2)) return floatAttribute(node, 'value', 0) === 0;
  const value = dependencies.constant(node.input[2]);
  return value !== undefined && isFloatTensor(value) && floatsOf(value).every((number) => number === 0);
}

/** Return the number of channels on axis 1 that the next Conv takes from a node, perhaps beside those of a Concat. */
function neededChannels({ dependencies, node }: RuleContext, axis: number): number | undefined {
  const { index } = dependencies;
  const [name = ''] = node.output;
  const next = index.uses(name)[0]?.node;
  const isJoined = next?.opType === 'Concat' && intAttribute(next, 'axis', 0) === axis;
  const conv = isJoined ? index.uses(next.output[0] ?? '')[0]?.node : next;
  const weight = dependencies.constant(conv?.input[1]);
  if (axis !== 1 || conv?.opType !== 'Conv' || weight === undefined) return undefined;
  const others = isJoined ? next.input.filter((input) => input !== name) : [];
  const sizes = others.map((input) => dependencies.dims(input)?.[axis]).filter(isKnown);
  const whole = (weight.dims[1] ?? 0) * intAttribute(conv, 'group', 1);
  return sizes.length === others.length ? whole - sizes.reduce((sum, size) => sum + size, 0) : undefined;
}

/** Operators that join values or take parts of them. */
export const joiningRules: ReadonlyMap<string, ChannelRule> = new Map([
  ['Concat', concat],
  ['Split', split],
  ['Slice', slice],
  ['Gather', gather],
  ['Pad', pad],
]);
