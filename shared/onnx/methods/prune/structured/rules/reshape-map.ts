import { intAttribute, intsAttribute } from '../../../../model/graph/attributes.ts';
import type { Dim } from '../../../../model/graph/value-info.ts';
import { axisOf, isKnown, productOf } from '../../../../model/infer/value.ts';
import type { RuleContext } from './rule-context.ts';

/** Where the channels of an axis are after a reshape. */
export interface ReshapeMap {
  /** The axis that carries them. */
  axis: number;
  /** For each place on it, the place on the former axis. */
  sources: Int32Array;
  /** Pairs of former places that can only go together, because their row of the new axis goes. */
  ties: readonly (readonly [number, number])[];
  /** Whether the axis has the same places as before. */
  isWhole: boolean;
}

/** How to choose where an axis is divided. */
interface ReshapeChoice {
  /** Prefers the innermost part to the outermost. */
  preferInner: boolean;
  /** True where the axes before the channels' are kept, for shapes that are known in part. */
  samePrefix: boolean;
  /** Whether two former places go together anyway. */
  areTied(a: number, b: number): boolean;
}

/**
 * Follows `count` channels on `axis` through a reshape from `from` to `to`, row-major as ONNX's Reshape. Where no
 * axis separates all channels they are tied in blocks, so that the outermost part carries them, or the innermost.
 * Undefined where the channels cannot be followed.
 */
export function mapReshape(
  from: readonly Dim[],
  to: readonly Dim[],
  axis: number,
  count: number,
  { preferInner, samePrefix, areTied }: ReshapeChoice,
): ReshapeMap | undefined {
  const stride = strides(from)[axis];
  if (stride === undefined || stride < 1) return samePrefix ? byPrefix(axis, to[axis], count) : undefined;
  const source = { size: count, stride };
  const found: { map: ReshapeMap; isInner: boolean }[] = [];
  for (const [at, own] of strides(to).entries()) {
    const size = to[at];
    if (own === undefined || own < 1 || !isKnown(size) || size < 1) continue;
    const target = { size, stride: own };
    const units = common(source, target);
    const isSame = size === count && own === stride;
    if (units === undefined || (units.units < 2 && !isSame)) continue;
    found.push({ map: mapUnits(at, source, target, units), isInner: own === stride });
  }
  const best =
    found.find(({ map }) => map.ties.every(([a, b]) => areTied(a, b))) ??
    (preferInner ? found.find(({ isInner }) => isInner) : undefined) ??
    found[0];
  return best?.map ?? (samePrefix ? byPrefix(axis, to[axis], count) : undefined);
}

/** Number of values behind each axis; undefined from the first axis on, counted from the end, that is not known. */
function strides(dims: readonly Dim[]): (number | undefined)[] {
  let product: number | undefined = 1;
  return dims
    .toReversed()
    .map((dim): number | undefined => {
      const stride = product;
      product = product === undefined || !isKnown(dim) ? undefined : product * dim;
      return stride;
    })
    .reverse();
}

/** The same where sizes behind the axis are not known, but those before it are the same. */
function byPrefix(axis: number, size: Dim | undefined, count: number): ReshapeMap | undefined {
  if (!isKnown(size) || size < 2) return undefined;
  // As if there were just enough values behind either axis for the two to be of equal length.
  const length = size % count === 0 ? size : count;
  const [from, to] = [
    { size: count, stride: length / count },
    { size, stride: length / size },
  ];
  const units = Number.isInteger(to.stride) ? common(from, to) : undefined;
  return units && mapUnits(axis, from, to, units);
}

/** An axis of a row-major array: its size, and how many values apart its places lie. */
interface Steps {
  size: number;
  stride: number;
}

/**
 * The common units of two axes of the same values: units of `low` values, `units` of them, of which each place of
 * either axis is a part, or which are parts of it, over and over. Undefined where they do not fit together.
 */
function common(from: Steps, to: Steps): { low: number; units: number } | undefined {
  const low = Math.max(from.stride, to.stride);
  const high = Math.min(from.size * from.stride, to.size * to.stride);
  const isFit =
    low % from.stride === 0 &&
    low % to.stride === 0 &&
    high % low === 0 &&
    (from.size * from.stride) % high === 0 &&
    (to.size * to.stride) % high === 0;
  return isFit && high >= low ? { low, units: high / low } : undefined;
}

/** The map that goes with {@link common} units: channels of the same unit are tied. */
function mapUnits(
  axis: number,
  from: Steps,
  to: Steps,
  { low, units }: { low: number; units: number },
): ReshapeMap {
  const unitOf = (place: number, { stride }: Steps): number => Math.floor((place * stride) / low) % units;
  const first = (unit: number): number => (unit * low) / from.stride;
  const ties: [number, number][] = [];
  for (let at = 0; at < from.size; at += 1) {
    const same = first(unitOf(at, from));
    if (same !== at) ties.push([at, same]);
  }
  return {
    axis,
    sources: Int32Array.from({ length: to.size }, (_, at) => first(unitOf(at, to))),
    ties,
    isWhole: from.size === to.size && from.stride === to.stride,
  };
}

/** The dimensions of a reshape's output, as far as its neighbours determine them. */
export const knownOutput = (
  context: RuleContext,
  from: readonly Dim[],
  axis: number,
): readonly Dim[] | undefined => filled(from, demanded(context), axis);

/** Fills in one unknown output dimension from the others. The dimensions before `axis` must be kept. */
function filled(
  from: readonly Dim[],
  to: readonly Dim[] | undefined,
  axis: number,
): readonly Dim[] | undefined {
  const open = to?.findIndex((dim, at) => at >= axis && !isKnown(dim)) ?? -1;
  const whole = productOf(from.slice(axis));
  const others = productOf(to?.filter((_, at) => at >= axis && at !== open) ?? []);
  if (to === undefined || open < 0 || !isKnown(whole) || !isKnown(others)) return to;
  return others > 0 && whole % others === 0 ? to.with(open, whole / others) : to;
}

/** Dimensions of the output. If the last one was not inferred, it comes from the node that uses the output. */
function demanded(context: RuleContext): readonly Dim[] | undefined {
  const dims = context.outputDims();
  const size = isKnown(dims?.at(-1)) ? undefined : demandedSize(context);
  return size === undefined ? dims : dims?.with(-1, size);
}

/** The last dimension that the output must have, because a matrix product with a constant weight uses it. */
function demandedSize({ dependencies, node }: RuleContext): number | undefined {
  const user = dependencies.index.uses(node.output[0] ?? '').find(({ position }) => position === 0)?.node;
  const dims = dependencies.constant(user?.input[1])?.dims;
  if (user === undefined || dims?.length !== 2 || user.domain !== '') return undefined;
  if (user.opType === 'MatMul') return dims[0];
  if (user.opType !== 'Gemm' || intAttribute(user, 'transA', 0) !== 0) return undefined;
  return dims[intAttribute(user, 'transB', 0) === 0 ? 0 : 1];
}

/** Whether the parts of a divided axis change places next, as in a channel shuffle. */
export function isShuffled({ dependencies, node }: RuleContext, axis: number): boolean {
  const next = dependencies.index.soleUse(node.output[0] ?? '')?.node;
  const perm = next?.opType === 'Transpose' ? intsAttribute(next, 'perm') : undefined;
  return perm !== undefined && perm[axis] === axis + 1 && perm[axis + 1] === axis;
}

/** How far to look for the use of a divided axis. */
const maxSteps = 4;

/**
 * Whether the outer part of a divided axis is soon taken apart by number: queries, keys and values that come from one
 * product, as in PyTorch's MultiheadAttention.
 */
export function isSelected({ dependencies, node }: RuleContext, axis: number): boolean {
  let [name, at] = [node.output[0] ?? '', axis];
  for (let step = 0; step < maxSteps; step += 1) {
    const uses = dependencies.index.uses(name);
    const rank = dependencies.dims(name)?.length ?? 0;
    const isTaken = uses.every(
      ({ node: user }) =>
        (user.opType === 'Gather' || user.opType === 'Split') &&
        axisOf(intAttribute(user, 'axis', 0), rank) === at,
    );
    if (uses.length > 0 && isTaken) return true;
    const next = dependencies.index.soleUse(name)?.node;
    if (next === undefined) return false;
    const axes = intsAttribute(next, 'axes') ?? dependencies.value(next.input[1])?.elements ?? [];
    const known = axes.filter((one) => typeof one === 'number');
    if (next.opType === 'Transpose') at = (intsAttribute(next, 'perm') ?? []).indexOf(at);
    else if (next.opType === 'Squeeze') at -= known.filter((one) => axisOf(one, rank) < at).length;
    else if (next.opType === 'Unsqueeze') {
      const added = new Set(known.map((one) => axisOf(one, rank + known.length)));
      at =
        Array.from({ length: rank + known.length }, (_, place) => place).filter((place) => !added.has(place))[
          at
        ] ?? -1;
    } else return false;
    name = next.output[0] ?? '';
  }
  return false;
}
