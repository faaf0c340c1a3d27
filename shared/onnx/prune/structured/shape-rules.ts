import { intAttribute, intsAttribute } from '../../graph/attributes.ts';
import { axisOf } from '../../infer/value.ts';
import type { Labels } from './channels.ts';
import { mapReshape, type ReshapeMap } from './reshape-map.ts';
import { isSelected, isShuffled, knownOutput } from './reshape-surroundings.ts';
import { settableSize } from './settable-size.ts';
import { shapeOf } from './shape-counts.ts';
import type { ChannelRule, Site } from './site.ts';
import type { Carried } from './survey.ts';

const transpose: ChannelRule = (site) => {
  const carried = site.carried(0);
  const rank = site.rank(0);
  if (carried === undefined || rank === undefined) return site.lockAsUnknown();
  const perm = intsAttribute(site.node, 'perm') ?? Array.from({ length: rank }, (_, at) => rank - 1 - at);
  const axis = perm.indexOf(carried.axis);
  if (axis < 0) site.lockAsUnknown();
  else site.put(0, { axis, labels: carried.labels });
};

const squeeze: ChannelRule = (site) => {
  const carried = site.carried(0);
  const dims = site.dims(0);
  const axes =
    site.numbers('axes', 1) ??
    (site.isGiven(1) ? undefined : dims?.flatMap((dim, at) => (dim === 1 ? [at] : [])));
  if (carried === undefined || dims === undefined || axes === undefined) return site.lockAsUnknown();
  const gone = new Set(axes.map((axis) => axisOf(axis, dims.length)));
  if (gone.has(carried.axis)) return site.lockAsUnknown();
  const before = [...gone].filter((axis) => axis < carried.axis).length;
  site.put(0, { axis: carried.axis - before, labels: carried.labels });
};

const unsqueeze: ChannelRule = (site) => {
  const carried = site.carried(0);
  const rank = site.rank(0);
  const axes = site.numbers('axes', 1);
  if (carried === undefined || rank === undefined || axes === undefined) return site.lockAsUnknown();
  const full = rank + axes.length;
  const added = new Set(axes.map((axis) => axisOf(axis, full)));
  const own = Array.from({ length: full }, (_, at) => at).filter((at) => !added.has(at));
  site.put(0, { axis: own[carried.axis] ?? 0, labels: carried.labels });
};

/** The channels behind a reshape, tied as it demands. */
function reshaped(
  site: Site,
  { axis, labels }: Carried,
  samePrefix: boolean,
): (ReshapeMap & Carried) | undefined {
  const from = site.dims(0);
  const to = from && knownOutput(site, from, samePrefix ? axis : 0);
  if (from === undefined || to === undefined) return undefined;
  const { channels } = site.survey;
  const map = mapReshape(from, to, axis, labels.length, {
    preferInner: isShuffled(site, axis) || isSelected(site, axis),
    samePrefix,
    areTied: (a, b) => channels.find(labels[a] ?? 0) === channels.find(labels[b] ?? 0),
  });
  if (map === undefined) return undefined;
  for (const [a, b] of map.ties) channels.tie(labels[a] ?? 0, labels[b] ?? 0);
  return { ...map, labels: map.isWhole ? labels : map.sources.map((at) => labels[at] ?? 0) };
}

const flatten: ChannelRule = (site) => {
  const carried = site.carried(0);
  const map = carried && reshaped(site, carried, false);
  if (map === undefined) site.lockAsUnknown();
  else site.put(0, { axis: map.axis, labels: map.labels });
};

/** Whether the element for the channels' axis follows them by itself, or can be set. */
function followShape(site: Site, from: Carried, map: ReshapeMap & Carried): boolean {
  const name = site.node.input[1];
  const { survey } = site;
  const counts: readonly (Labels | undefined)[] = survey.counts.get(name ?? '') ?? [];
  const elements = survey.value(name)?.elements ?? [];
  const copies = intAttribute(site.node, 'allowzero', 0) === 0;
  const isForeign = elements.some(
    (element, at) =>
      at !== map.axis && (counts[at] !== undefined || (copies && element === 0 && at === from.axis)),
  );
  if (isForeign) return false;
  const own = counts[map.axis];
  if (own !== undefined) return survey.channels.areSame(own, map.labels);
  const element = elements[map.axis];
  if (element === -1) return true;
  if (element === 0 && copies) return map.axis === from.axis && map.isWhole;
  if (typeof element !== 'number') return false;
  const set = settableSize(site, map.axis);
  if (set === undefined) return false;
  survey.edits.push((remaining) => {
    const left = remaining.count(map.labels);
    if (left !== map.labels.length) set(left);
  });
  return true;
}

/** Whether a Reshape takes over the axes before this one: as 0, or as the same known size. */
function keepsPrefix(site: Site, axis: number): boolean {
  const elements = site.survey.value(site.node.input[1])?.elements ?? [];
  const [from, to] = [site.dims(0) ?? [], site.outputDims() ?? []];
  return Array.from({ length: axis }).every(
    (_, at) => elements[at] === 0 || (from[at] !== null && from[at] !== undefined && from[at] === to[at]),
  );
}

const reshape: ChannelRule = (site) => {
  const carried = site.carried(0);
  const counts = site.survey.counts.get(site.node.input[1] ?? '') ?? [];
  if (carried !== undefined) {
    const map = reshaped(site, carried, keepsPrefix(site, carried.axis));
    if (map !== undefined && site.isGiven(1) && followShape(site, carried, map)) {
      site.put(0, { axis: map.axis, labels: map.labels });
      return;
    }
  }
  for (const labels of counts)
    site.survey.channels.lock(labels ?? [], `${site.label} takes their number as a size`);
  site.lockAsUnknown();
};

/** Operators that move channels to other axes. */
export const shapeRules: ReadonlyMap<string, ChannelRule> = new Map([
  ['Transpose', transpose],
  ['Squeeze', squeeze],
  ['Unsqueeze', unsqueeze],
  ['Flatten', flatten],
  ['Reshape', reshape],
  ['Shape', shapeOf],
]);
