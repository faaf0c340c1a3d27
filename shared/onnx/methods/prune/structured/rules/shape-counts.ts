import { intAttribute } from '../../../../model/graph/attributes.ts';
import { axisOf } from '../../../../model/infer/value.ts';
import type { Labels } from '../channels.ts';
import type { ChannelRule, RuleContext } from './rule-context.ts';

/** Elements of a shape vector; those that count channels have their labels. */
type Counts = readonly (Labels | undefined)[];

const countsAt = (context: RuleContext, position: number): Counts | undefined =>
  context.dependencies.counts.get(context.node.input[position] ?? '');

function put(context: RuleContext, counts: Counts): void {
  const name = context.node.output[0] ?? '';
  if (counts.some((labels) => labels !== undefined)) context.dependencies.counts.set(name, counts);
}

/** Shape of a value that carries channels: one of its elements counts them. */
export const shapeOf: ChannelRule = (context) => {
  const carried = context.carried(0);
  const rank = context.rank(0);
  if (carried === undefined || rank === undefined) return context.lockAsUnknown();
  const start = axisOf(intAttribute(context.node, 'start', 0), rank);
  const end = axisOf(intAttribute(context.node, 'end', rank), rank);
  const counts = Array.from({ length: rank }, (_, at) => (at === carried.axis ? carried.labels : undefined));
  put(context, counts.slice(start, end));
};

/** The elements that a node takes from shapes, in order; undefined where it does anything else with them. */
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
