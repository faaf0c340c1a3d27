import { intAttribute, intsAttribute, removeAttribute, setAttribute } from '../../graph/attributes.ts';
import { axisOf, isKnown } from '../../infer/value.ts';
import { fixedLabel, type Labels } from './channels.ts';
import { setNumbers } from './number-input.ts';
import type { ChannelRule, Site } from './site.ts';
import type { Carried } from './survey.ts';

/** Channels of all inputs one after the other; those that carry none stay. */
function joined(site: Site, axis: number): Labels | undefined {
  const parts = site.node.input.map((_, at): Labels | undefined => {
    const size = site.dims(at)?.[axis];
    return site.carried(at)?.labels ?? (isKnown(size) ? new Int32Array(size).fill(fixedLabel) : undefined);
  });
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length) return undefined;
  return Int32Array.from(known.flatMap((part) => [...part]));
}

const concat: ChannelRule = (site) => {
  const all = site.allCarried();
  const [first] = all;
  const rank = site.node.input.map((_, at) => site.rank(at)).find((known) => known !== undefined);
  if (first === undefined || rank === undefined || all.some(({ axis }) => axis !== first.axis))
    return site.lockAsUnknown();
  const axis = axisOf(intAttribute(site.node, 'axis', 0), rank);
  if (axis === first.axis) {
    const labels = joined(site, axis);
    return labels === undefined ? site.lockAsUnknown() : site.put(0, { axis, labels });
  }
  // Joined along another axis, all of them have the same channels.
  if (all.length < site.node.input.length) return site.lockAsUnknown();
  for (const { labels } of all) site.survey.channels.tieAll(labels, first.labels);
  site.put(0, first);
};

const split: ChannelRule = (site) => {
  const carried = site.carried(0);
  const rank = site.rank(0);
  if (carried === undefined || rank === undefined) return site.lockAsUnknown();
  if (axisOf(intAttribute(site.node, 'axis', 0), rank) !== carried.axis) return site.putAll(carried);
  const { axis, labels } = carried;
  const parts = site.node.output.length;
  const even = Math.ceil(labels.length / parts);
  const given = site.numbers('split', 1);
  const isMovable = !site.isGiven(1) || site.survey.constant(site.node.input[1]) !== undefined;
  const sizes =
    given ?? site.node.output.map((_, at) => Math.max(0, Math.min(even, labels.length - at * even)));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (!isMovable || total !== labels.length || sizes.length !== parts) return site.lockAsUnknown();
  let start = 0;
  const pieces = sizes.map((size) => {
    start += size;
    return labels.subarray(start - size, start);
  });
  for (const [at, piece] of pieces.entries()) site.put(at, { axis, labels: piece });
  site.survey.edits.push((remaining) => {
    const left = pieces.map((piece) => remaining.count(piece));
    if (left.every((size, at) => size === sizes[at])) return;
    removeAttribute(site.node, 'num_outputs');
    if (site.survey.model.opset() < 13) setAttribute(site.node, 'split', left);
    else setNumbers(site.survey, site.node, 1, left);
  });
};

interface Range {
  at: number;
  start: number;
  end: number;
}

/** Which part of an axis a Slice takes; undefined where it is not a constant one, null where it takes all of it. */
function rangeOf(site: Site, { axis, labels }: Carried, rank: number): Range | null | undefined {
  const starts = site.numbers('starts', 1);
  const ends = site.numbers('ends', 2);
  const axes = site.numbers('axes', 3) ?? starts?.map((_, at) => at);
  const steps = site.numbers('steps', 4);
  const isUnknown = (position: number, numbers: unknown) => site.isGiven(position) && numbers === undefined;
  if (axes === undefined || isUnknown(3, site.numbers('axes', 3)) || isUnknown(4, steps)) return undefined;
  const at = axes.findIndex((one) => axisOf(one, rank) === axis);
  if (at < 0) return null;
  const [start, end, step] = [starts?.[at], ends?.[at], steps?.[at] ?? 1];
  if (start === undefined || end === undefined || step !== 1) return undefined;
  const within = (place: number): number =>
    Math.min(labels.length, Math.max(0, place < 0 ? place + labels.length : place));
  return { at, start: within(start), end: within(end) };
}

/** Bounds that can be set: attributes, or constant inputs. */
function boundsOf(site: Site): { starts: number[]; ends: number[] } | undefined {
  const isOld = !site.isGiven(1);
  if (isOld) {
    const [starts, ends] = [intsAttribute(site.node, 'starts'), intsAttribute(site.node, 'ends')];
    return starts && ends && { starts, ends };
  }
  const isConstant = [1, 2].every((at) => site.survey.constant(site.node.input[at]) !== undefined);
  const [starts, ends] = [site.numbers('starts', 1), site.numbers('ends', 2)];
  return isConstant && starts && ends ? { starts, ends } : undefined;
}

const slice: ChannelRule = (site) => {
  const carried = site.carried(0);
  const rank = site.rank(0);
  if (carried === undefined || rank === undefined) return site.lockAsUnknown();
  const range = rangeOf(site, carried, rank);
  if (range === null) return site.put(0, carried);
  const bounds = boundsOf(site);
  if (range === undefined || bounds === undefined || range.end <= range.start) return site.lockAsUnknown();
  const before = carried.labels.subarray(0, range.start);
  const labels = carried.labels.subarray(range.start, range.end);
  site.put(0, { axis: carried.axis, labels });
  site.survey.edits.push((remaining) => {
    const start = remaining.count(before);
    const starts = bounds.starts.with(range.at, start);
    const ends = bounds.ends.with(range.at, start + remaining.count(labels));
    if (site.isGiven(1)) {
      setNumbers(site.survey, site.node, 1, starts);
      setNumbers(site.survey, site.node, 2, ends);
    } else {
      setAttribute(site.node, 'starts', starts);
      setAttribute(site.node, 'ends', ends);
    }
  });
};

const gather: ChannelRule = (site) => {
  const carried = site.carried(0);
  const rank = site.rank(0);
  const indices = site.rank(1);
  if (carried === undefined || rank === undefined || indices === undefined || site.carried(1) !== undefined)
    return site.lockAsUnknown();
  const axis = axisOf(intAttribute(site.node, 'axis', 0), rank);
  if (axis === carried.axis) return site.lock(`${site.label} chooses among them by number`);
  site.put(0, {
    axis: carried.axis > axis ? carried.axis + indices - 1 : carried.axis,
    labels: carried.labels,
  });
};

const pad: ChannelRule = (site) => {
  const carried = site.carried(0);
  const rank = site.rank(0);
  const pads = site.numbers('pads', 1);
  if (carried === undefined || rank === undefined || pads === undefined || site.isGiven(3))
    return site.lockAsUnknown();
  if (pads[carried.axis] !== 0 || pads[carried.axis + rank] !== 0) return site.lockAsUnknown();
  site.put(0, carried);
};

/** Operators that put values together or take parts of them. */
export const joiningRules: ReadonlyMap<string, ChannelRule> = new Map([
  ['Concat', concat],
  ['Split', split],
  ['Slice', slice],
  ['Gather', gather],
  ['Pad', pad],
]);
