import { intAttribute, intsAttribute, tensorAttribute } from '../graph/attributes.ts';
import type { Dim } from '../graph/value-info.ts';
import { ExternalData } from '../tensor/external-data.ts';
import { integersOf } from '../tensor/values.ts';
import { axisOf, broadcast, isGiven, isKnown, numbersOf, productOf, type Rule, typed } from './value.ts';

const shape: Rule = ({ node, inputs: [x] }) => {
  const rank = x?.dims?.length;
  const start = intAttribute(node, 'start', 0);
  const end = intAttribute(node, 'end', rank ?? 0);
  const elements = x?.dims?.slice(start, end);
  return [{ type: 'int64', dims: [elements?.length ?? null], elements }];
};

/** Shape of a Reshape. 0 keeps a dimension, −1 takes the remaining elements. */
function reshapedDims(from: readonly Dim[] | undefined, wanted: readonly Dim[], allowZero: boolean): Dim[] {
  const dims = wanted.map((dim, at): Dim => (dim === 0 && !allowZero ? (from?.[at] ?? null) : dim));
  const hole = dims.indexOf(-1);
  if (hole < 0) return dims;
  // Equal sizes on both sides cancel out, even unknown ones.
  const rest = dims.filter((_, at) => at !== hole);
  const own = (from ?? [null]).filter((dim) => {
    const same = typeof dim === 'string' ? rest.indexOf(dim) : -1;
    if (same >= 0) rest.splice(same, 1);
    return same < 0;
  });
  const [total, others] = [productOf(own), productOf(rest)];
  if (isKnown(others) && others > 0)
    dims[hole] = isKnown(total) ? total / others : others === 1 ? total : null;
  else dims[hole] = null;
  return dims;
}

const reshape: Rule = ({ node, inputs: [x, to] }) => {
  const wanted = to?.elements ?? intsAttribute(node, 'shape');
  if (wanted === undefined) {
    const rank = to?.dims?.[0];
    return typed(x, isKnown(rank) ? Array.from({ length: rank }, () => null) : undefined);
  }
  const dims = reshapedDims(x?.dims, wanted, intAttribute(node, 'allowzero', 0) === 1);
  return [x && { type: x.type, dims, elements: dims.length <= 1 ? x.elements : undefined }];
};

const flatten: Rule = ({ node, inputs: [x] }) => {
  if (x?.dims === undefined) return typed(x, [null, null]);
  const axis = axisOf(intAttribute(node, 'axis', 1), x.dims.length);
  return typed(x, [productOf(x.dims.slice(0, axis)), productOf(x.dims.slice(axis))]);
};

const transpose: Rule = ({ node, inputs: [x] }) => {
  const perm = intsAttribute(node, 'perm') ?? x?.dims?.map((_, at, all) => all.length - 1 - at);
  return typed(x, x?.dims && perm?.map((axis) => x.dims?.[axis] ?? null));
};

const squeeze: Rule = (context) => {
  const [x] = context.inputs;
  const axes = numbersOf(context, 'axes', 1);
  const rank = x?.dims?.length ?? 0;
  if (x?.dims === undefined || (axes === undefined && isGiven(context, 1))) return typed(x, undefined);
  const gone = axes?.map((axis) => axisOf(axis, rank));
  const dims = x.dims.filter((dim, at) => (gone === undefined ? dim !== 1 : !gone.includes(at)));
  return [{ type: x.type, dims, elements: x.elements }];
};

const unsqueeze: Rule = (context) => {
  const [x] = context.inputs;
  const axes = numbersOf(context, 'axes', 1);
  if (x?.dims === undefined || axes === undefined) return typed(x, undefined);
  const rank = x.dims.length + axes.length;
  const added = new Set(axes.map((axis) => axisOf(axis, rank)));
  const rest = [...x.dims];
  const dims = Array.from({ length: rank }, (_, at) => (added.has(at) ? 1 : (rest.shift() ?? null)));
  return [{ type: x.type, dims, elements: x.elements }];
};

const concat: Rule = ({ node, inputs }) => {
  const [first] = inputs;
  const isShape = inputs.every((input) => input?.elements !== undefined);
  const elements = isShape ? inputs.flatMap((input) => input?.elements ?? []) : undefined;
  if (inputs.some((input) => input?.dims === undefined) || first?.dims === undefined) {
    return [first && { type: first.type, dims: undefined, elements }];
  }
  const axis = axisOf(intAttribute(node, 'axis', 0), first.dims.length);
  const dims = first.dims.map((dim, at) => {
    const sizes = inputs.map((input) => input?.dims?.[at] ?? null);
    if (at !== axis) return sizes.find(isKnown) ?? dim;
    return sizes.every(isKnown) ? sizes.reduce((sum, size) => sum + size, 0) : null;
  });
  return [{ type: first.type, dims, elements }];
};

const split: Rule = (context) => {
  const { node, inputs } = context;
  const [x] = inputs;
  if (x?.dims === undefined) return node.output.map(() => x && { type: x.type, dims: undefined });
  const axis = axisOf(intAttribute(node, 'axis', 0), x.dims.length);
  const size = x.dims[axis];
  const parts = node.output.length;
  const even = isKnown(size) ? Math.ceil(size / parts) : null;
  const sizes = numbersOf(context, 'split', 1);
  return node.output.map((_, part) => {
    const last = isKnown(size) && even !== null ? Math.min(even, size - part * even) : null;
    const own: Dim = sizes?.[part] ?? (isGiven(context, 1) ? null : last);
    return { type: x.type, dims: x.dims?.map((dim, at) => (at === axis ? own : dim)) };
  });
};

const expand: Rule = ({ inputs: [x, to] }) => {
  const rank = to?.dims?.[0];
  const wanted = to?.elements ?? (isKnown(rank) ? Array.from({ length: rank }, () => null) : undefined);
  return typed(x, broadcast(x?.dims, wanted));
};

const tile: Rule = ({ inputs: [x, repeats] }) =>
  typed(
    x,
    x?.dims?.map((dim, at) => {
      const times = repeats?.elements?.[at];
      return isKnown(dim) && isKnown(times) ? dim * times : null;
    }),
  );

const padded: Rule = (context) => {
  const [x] = context.inputs;
  const pads = numbersOf(context, 'pads', 1);
  const rank = x?.dims?.length ?? 0;
  if (isGiven(context, 3) || pads === undefined)
    return typed(
      x,
      x?.dims?.map(() => null),
    );
  return typed(
    x,
    x?.dims?.map((dim, at) => (isKnown(dim) ? dim + (pads[at] ?? 0) + (pads[at + rank] ?? 0) : null)),
  );
};

const resize: Rule = ({ inputs: [x, , scales, sizes] }) => {
  if (sizes?.elements !== undefined) return typed(x, sizes.elements);
  return typed(x, scales === undefined ? undefined : x?.dims?.map((dim, at) => (at < 2 ? dim : null)));
};

const longestShape = 64;

const constantOfShape: Rule = ({ node, inputs: [to] }) => {
  const value = tensorAttribute(node, 'value', new ExternalData('.'));
  const type = value?.type ?? 'float';
  const [length] = to?.elements ?? [];
  const isShape = type === 'int64' && to?.elements?.length === 1 && isKnown(length) && length <= longestShape;
  const [filling = 0] = value !== undefined && isShape ? integersOf(value) : [];
  const elements = isShape ? Array.from({ length }, () => filling) : undefined;
  return [{ type, dims: to?.elements, elements }];
};

const range: Rule = ({ inputs: [start, limit, delta] }) => {
  const [from, to, step] = [start?.elements?.[0], limit?.elements?.[0], delta?.elements?.[0]];
  const isFixed = isKnown(from) && isKnown(to) && isKnown(step) && step !== 0;
  return [start && { type: start.type, dims: [isFixed ? Math.max(0, Math.ceil((to - from) / step)) : null] }];
};

const size: Rule = ({ inputs: [x] }) => [
  { type: 'int64', dims: [], elements: x?.dims && [productOf(x.dims)] },
];

const depthToSpace: Rule = ({ node, inputs: [x] }) => {
  const block = intAttribute(node, 'blocksize', 1);
  const isInward = node.opType === 'DepthToSpace';
  return typed(
    x,
    x?.dims?.map((dim, at) => {
      if (at === 0 || !isKnown(dim)) return dim;
      const factor = at === 1 ? 1 / (block * block) : block;
      return isInward ? dim * factor : dim / factor;
    }),
  );
};

/** Operators that move values or compute shapes. */
export const shapingRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['Shape', shape],
  ['Size', size],
  ['Reshape', reshape],
  ['Flatten', flatten],
  ['Transpose', transpose],
  ['Squeeze', squeeze],
  ['Unsqueeze', unsqueeze],
  ['Concat', concat],
  ['Split', split],
  ['Expand', expand],
  ['Tile', tile],
  ['Pad', padded],
  ['Resize', resize],
  ['Upsample', resize],
  ['ConstantOfShape', constantOfShape],
  ['Range', range],
  ['DepthToSpace', depthToSpace],
  ['SpaceToDepth', depthToSpace],
]);

const same: Rule = ({ inputs: [x] }) => typed(x, x?.dims);

/** The largest or smallest values along an axis, and their indices. */
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

/** Operators that sort, mark or scatter values, or gather them from computed positions. */
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
