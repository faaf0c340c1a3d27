import { intAttribute } from '../graph/attributes.ts';
import type { Dim } from '../graph/value-info.ts';
import { typed } from './rule-inputs.ts';
import { axisOf, isKnown, type Rule } from './value.ts';

const same: Rule = ({ inputs: [x] }) => typed(x, x?.dims);

/** The largest or smallest along an axis, and where they are. */
const topK: Rule = ({ node, inputs: [x, k] }) => {
  const axis = axisOf(intAttribute(node, 'axis', -1), x?.dims?.length ?? 0);
  const count = node.input.length > 1 ? (k?.elements?.[0] ?? null) : intAttribute(node, 'k', 0);
  const dims = x?.dims?.map((dim, at) => (at === axis ? count : dim));
  return [x && { type: x.type, dims }, { type: 'int64', dims }];
};

const oneHot: Rule = ({ node, inputs: [indices, depth, values] }) => {
  const rank = (indices?.dims?.length ?? 0) + 1;
  const axis = axisOf(intAttribute(node, 'axis', -1), rank);
  return typed(values, indices?.dims?.toSpliced(axis, 0, depth?.elements?.[0] ?? null));
};

const nonZero: Rule = ({ inputs: [x] }) => [{ type: 'int64', dims: [x?.dims?.length ?? null, null] }];

const compress: Rule = ({ node, inputs: [x] }) => {
  const isFlat = !node.attribute.some(({ name }) => name === 'axis');
  const axis = axisOf(intAttribute(node, 'axis', 0), x?.dims?.length ?? 0);
  return typed(x, isFlat ? [null] : x?.dims?.map((dim, at) => (at === axis ? null : dim)));
};

const gridSample: Rule = ({ inputs: [x, grid] }) =>
  typed(x, x?.dims && grid?.dims && [...x.dims.slice(0, 2), ...grid.dims.slice(1, -1)]);

const gatherNd: Rule = ({ node, inputs: [x, indices] }) => {
  const depth = indices?.dims?.at(-1);
  if (x?.dims === undefined || indices?.dims === undefined || !isKnown(depth)) return typed(x, undefined);
  const batch = intAttribute(node, 'batch_dims', 0);
  return typed(x, [...indices.dims.slice(0, -1), ...x.dims.slice(batch + depth)]);
};

const roi: Rule = ({ node, inputs: [x, regions] }) => {
  const size = (name: string): Dim => intAttribute(node, name, 1);
  const channels = x?.dims?.[1] ?? null;
  return typed(x, [regions?.dims?.[0] ?? null, channels, size('output_height'), size('output_width')]);
};

const det: Rule = ({ inputs: [x] }) => typed(x, x?.dims?.slice(0, -2));

/** Operators that sort, mark or scatter values, or take them from places that are computed. */
export const scatteringRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['Scatter', same],
  ['ScatterElements', same],
  ['ScatterND', same],
  ['TensorScatter', same],
  ['ReverseSequence', same],
  ['TopK', topK],
  ['OneHot', oneHot],
  ['NonZero', nonZero],
  ['Compress', compress],
  ['GridSample', gridSample],
  ['GatherND', gatherNd],
  ['RoiAlign', roi],
  ['Det', det],
]);
