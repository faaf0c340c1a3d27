import { intAttribute } from '../graph/attributes.ts';
import type { Dim } from '../graph/value-info.ts';
import { axisOf, type InferenceContext, isGiven, isKnown, numbersOf, type Rule, typed } from './value.ts';

/** Return the indices from `start` to `end` by `step`, clamped to the size as in ONNX's Slice. */
function sliced(size: number, start: number, end: number, step: number): number[] {
  const clamp = (at: number): number => {
    const from = at < 0 ? at + size : at;
    return step > 0 ? Math.min(Math.max(from, 0), size) : Math.min(Math.max(from, -1), size - 1);
  };
  const picked: number[] = [];
  const [first, last] = [clamp(start), clamp(end)];
  for (let at = first; step > 0 ? at < last : at > last; at += step) picked.push(at);
  return picked;
}

/** Numbers of a slice; some may be symbolic sizes. Undefined if they are unknown. */
const boundsOf = (
  context: InferenceContext,
  attribute: string,
  position: number,
): readonly Dim[] | undefined =>
  context.inputs[position]?.elements ?? numbersOf(context, attribute, position);

const slice: Rule = (context) => {
  const [x] = context.inputs;
  const starts = boundsOf(context, 'starts', 1);
  const ends = boundsOf(context, 'ends', 2);
  if (x?.dims === undefined || starts === undefined || ends === undefined) {
    return typed(
      x,
      x?.dims?.map(() => null),
    );
  }
  const axes = numbersOf(context, 'axes', 3) ?? (isGiven(context, 3) ? undefined : starts.map((_, at) => at));
  const steps = numbersOf(context, 'steps', 4) ?? starts.map(() => 1);
  if (axes === undefined)
    return typed(
      x,
      x.dims.map(() => null),
    );
  const rank = x.dims.length;
  const dims = [...x.dims];
  let elements = x.elements;
  for (const [at, axis] of axes.entries()) {
    const where = axisOf(axis, rank);
    const size = dims[where];
    const [start = 0, end = 0, step = 1] = [starts[at], ends[at], steps[at]];
    // The slice starts at 0 and has the length of another value. Assume that the axis is at least that long.
    if (typeof end === 'string' && start === 0 && step === 1) {
      dims[where] = end;
      elements = undefined;
    } else if (!isKnown(size) || !isKnown(start) || !isKnown(end) || step === 0) {
      dims[where] = null;
      elements = undefined;
    } else if (Math.abs(step) === 1 || size < 1e6) {
      const picked = size < 1e6 ? sliced(size, start, end, step) : undefined;
      dims[where] = picked?.length ?? null;
      elements =
        rank === 1 && picked !== undefined ? picked.map((pick) => elements?.[pick] ?? null) : undefined;
    } else dims[where] = null;
  }
  return [{ type: x.type, dims, elements: x.elements === undefined ? undefined : elements }];
};

const gather: Rule = ({ node, inputs: [x, indices] }) => {
  if (x?.dims === undefined || indices?.dims === undefined) return typed(x, undefined);
  const axis = axisOf(intAttribute(node, 'axis', 0), x.dims.length);
  const dims = [...x.dims.slice(0, axis), ...indices.dims, ...x.dims.slice(axis + 1)];
  const picks = indices.elements;
  const elements = x.elements && picks?.map((at) => (isKnown(at) ? (x.elements?.at(at) ?? null) : null));
  return [{ type: x.type, dims, elements: dims.length <= 1 ? elements : undefined }];
};

const gatherElements: Rule = ({ inputs: [x, indices] }) => typed(x, indices?.dims);
const reduce: Rule = (context) => {
  const { node, inputs } = context;
  const [x] = inputs;
  const keep = intAttribute(node, 'keepdims', 1) === 1;
  const axes = numbersOf(context, 'axes', 1);
  if (x?.dims === undefined || (axes === undefined && isGiven(context, 1))) return typed(x, undefined);
  const isAll = axes === undefined || axes.length === 0;
  if (isAll && intAttribute(node, 'noop_with_empty_axes', 0) === 1) return typed(x, x.dims);
  const gone = axes?.map((axis) => axisOf(axis, x.dims?.length ?? 0)) ?? [];
  const reduced = (at: number): boolean => isAll || gone.includes(at);
  const dims = keep
    ? x.dims.map((dim, at) => (reduced(at) ? 1 : dim))
    : x.dims.filter((_, at) => !reduced(at));
  return typed(x, dims);
};

const arg: Rule = ({ node, inputs: [x] }) => {
  const axis = axisOf(intAttribute(node, 'axis', 0), x?.dims?.length ?? 0);
  const keep = intAttribute(node, 'keepdims', 1) === 1;
  const dims = keep
    ? x?.dims?.map((dim, at) => (at === axis ? 1 : dim))
    : x?.dims?.filter((_, at) => at !== axis);
  return [{ type: 'int64', dims }];
};

const reductions =
  'ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare';

/** Operators that select or reduce along axes. */
export const selectingRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['Slice', slice],
  ['Gather', gather],
  ['GatherElements', gatherElements],
  ['ArgMax', arg],
  ['ArgMin', arg],
  ...reductions.split(' ').map((name): [string, Rule] => [name, reduce]),
]);
