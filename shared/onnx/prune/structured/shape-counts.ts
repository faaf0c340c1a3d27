import { intAttribute } from '../../graph/attributes.ts';
import { axisOf } from '../../infer/value.ts';
import type { Labels } from './channels.ts';
import type { ChannelRule, Site } from './site.ts';

/** Elements of a shape vector; those that count channels have their labels. */
type Counts = readonly (Labels | undefined)[];

const countsAt = (site: Site, position: number): Counts | undefined =>
  site.survey.counts.get(site.node.input[position] ?? '');

function put(site: Site, counts: Counts): void {
  const name = site.node.output[0] ?? '';
  if (counts.some((labels) => labels !== undefined)) site.survey.counts.set(name, counts);
}

/** Shape of a value that carries channels: one of its elements counts them. */
export const shapeOf: ChannelRule = (site) => {
  const carried = site.carried(0);
  const rank = site.rank(0);
  if (carried === undefined || rank === undefined) return site.lockAsUnknown();
  const start = axisOf(intAttribute(site.node, 'start', 0), rank);
  const end = axisOf(intAttribute(site.node, 'end', rank), rank);
  const counts = Array.from({ length: rank }, (_, at) => (at === carried.axis ? carried.labels : undefined));
  put(site, counts.slice(start, end));
};

/** The elements that a node takes from shapes, in order; undefined where it does anything else with them. */
function taken(site: Site): Counts | undefined {
  const first = countsAt(site, 0);
  const { opType } = site.node;
  if (opType === 'Concat') {
    const parts = site.node.input.map((name, at): Counts | undefined => {
      const length = site.survey.value(name)?.elements?.length ?? site.dims(at)?.[0];
      return (
        countsAt(site, at) ?? (typeof length === 'number' ? new Array(length).fill(undefined) : undefined)
      );
    });
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
  }
  if (first === undefined) return undefined;
  if (opType === 'Gather') {
    const indices = site.survey.value(site.node.input[1])?.elements;
    if (intAttribute(site.node, 'axis', 0) !== 0 || indices === undefined) return undefined;
    const known = indices.filter((index) => typeof index === 'number');
    return known.length < indices.length ? undefined : known.map((index) => first.at(index));
  }
  if (opType === 'Slice') {
    const [starts, ends, steps] = [
      site.numbers('starts', 1),
      site.numbers('ends', 2),
      site.numbers('steps', 4) ?? [1],
    ];
    if (starts?.length !== 1 || ends?.length !== 1 || steps[0] !== 1) return undefined;
    return first.slice(starts[0], ends[0]);
  }
  // The product of one element is that element.
  if (opType === 'ReduceProd') return first.length === 1 ? first : undefined;
  // One element more or less of shape around it: the elements stay what they are.
  if (opType === 'Unsqueeze' || opType === 'Squeeze' || opType === 'Cast' || opType === 'Identity')
    return first;
  return undefined;
}

/** Inputs of operators that take a shape as such. */
const shapeInputs: Readonly<Record<string, number>> = { Reshape: 1 };

/**
 * Follows counts of channels through the computing of shapes. Where anything else is done with such a count the
 * channels have to stay: a smaller number would change more than a shape.
 */
export function followCounts(site: Site): void {
  const positions = [...site.node.input.keys()].filter((at) => countsAt(site, at) !== undefined);
  if (positions.length === 0 || positions.every((at) => shapeInputs[site.node.opType] === at)) return;
  const counts = taken(site);
  if (counts !== undefined) {
    put(site, counts);
    return;
  }
  for (const at of positions)
    for (const labels of countsAt(site, at) ?? [])
      site.survey.channels.lock(labels ?? [], `${site.label} computes with their number`);
}
