import { intAttribute, intsAttribute } from '../../../../model/graph/attributes.ts';
import type { Dim } from '../../../../model/graph/value-info.ts';
import { axisOf, isKnown, productOf } from '../../../../model/infer/value.ts';
import { recurrentRules } from './recurrent-rules.ts';
import type { RuleContext } from './rule-context.ts';

/** Positions of an axis's channels after a reshape. */
export interface ReshapeMap {
  /** New axis of the channels. */
  axis: number;
  /** For each place on the new axis, the place on the old axis. */
  sources: Int32Array;
  /** Pairs of old places that can only be removed together, because they share a row of the new axis. */
  ties: readonly (readonly [number, number])[];
  /** Whether the axis has the same places as before. */
  isWhole: boolean;
}

/** Preferences for an axis that a reshape divides. */
interface ReshapeChoice {
  /** Prefer the part after the outermost one, which other nodes take apart. */
  skipOuter: boolean;
  /** Whether the reshape keeps the axes before the channel axis. Used for partly known shapes. */
  samePrefix: boolean;
  /** Whether two old places are tied already. */
  areTied(a: number, b: number): boolean;
}

/**
 * Follow `count` channels on `axis` through a reshape from `from` to `to`, row-major as in ONNX's Reshape. If no
 * axis separates all channels, tie them in blocks, and let the outermost part or the next one carry the blocks.
 * Undefined if the channels cannot be followed.
 */
export function mapReshape(
  from: readonly Dim[],
  to: readonly Dim[],
  axis: number,
  count: number,
  { skipOuter, samePrefix, areTied }: ReshapeChoice,
): ReshapeMap | undefined {
  const stride = strides(from)[axis];
  if (stride === undefined || stride < 1) return samePrefix ? byPrefix(axis, to[axis], count) : undefined;
  const source = { size: count, stride };
  const found: ReshapeMap[] = [];
  for (const [at, own] of strides(to).entries()) {
    const size = to[at];
    if (own === undefined || own < 1 || !isKnown(size) || size < 1) continue;
    const target = { size, stride: own };
    const units = common(source, target);
    const isSame = size === count && own === stride;
    if (units === undefined || (units.units < 2 && !isSame)) continue;
    found.push(mapUnits(at, source, target, units));
  }
  const best =
    found.find(({ ties }) => ties.every(([a, b]) => areTied(a, b))) ??
    (skipOuter ? found[1] : undefined) ??
    found[0];
  return best ?? (samePrefix ? byPrefix(axis, to[axis], count) : undefined);
}

/** Return the stride of each axis in values. Undefined for axes before an unknown dimension. */
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

/** Map the channels if sizes after the axis are unknown, but those before it stay the same. */
function byPrefix(axis: number, size: Dim | undefined, count: number): ReshapeMap | undefined {
  if (!isKnown(size) || size < 2) return undefined;
  // Assume the smallest strides for which both axes have equal length.
  const length = size % count === 0 ? size : count;
  const [from, to] = [
    { size: count, stride: length / count },
    { size, stride: length / size },
  ];
  const units = Number.isInteger(to.stride) ? common(from, to) : undefined;
  return units && mapUnits(axis, from, to, units);
}

/** An axis of a row-major array: its size, and its stride in values. */
interface Steps {
  size: number;
  stride: number;
}

/**
 * Return the common units of two axes of the same values: the period of `units` units with `low` values each. Each
 * place of either axis lies within a unit or repeats across periods. Undefined if the axes do not fit together.
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

/** Return the map for {@link common} units. Channels of the same unit are tied. */
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

/** Return the dimensions of a reshape's output, as far as its neighbours determine them. */
export const knownOutput = (
  context: RuleContext,
  from: readonly Dim[],
  axis: number,
): readonly Dim[] | undefined => filled(from, demanded(context), axis);

/** Compute one unknown output dimension from the others. The reshape must keep the dimensions before `axis`. */
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

/**
 * Return the dimensions of the output. If the last one was not inferred, take it from the node that uses the
 * output.
 */
function demanded(context: RuleContext): readonly Dim[] | undefined {
  const dims = context.outputDims();
  const size = isKnown(dims?.at(-1)) ? undefined : demandedSize(context);
  return size === undefined ? dims : dims?.with(-1, size);
}

/**
 * Return the last dimension that a user of the output requires, if the user is a matrix product or a recurrent layer
 * with a constant weight.
 */
function demandedSize({ dependencies, node }: RuleContext): number | undefined {
  const user = dependencies.index.uses(node.output[0] ?? '').find(({ position }) => position === 0)?.node;
  const dims = dependencies.constant(user?.input[1])?.dims;
  if (user === undefined || user.domain !== '') return undefined;
  if (recurrentRules.has(user.opType)) return dims?.[2];
  if (dims?.length !== 2) return undefined;
  if (user.opType === 'MatMul') return dims[0];
  if (user.opType !== 'Gemm' || intAttribute(user, 'transA', 0) !== 0) return undefined;
  return dims[intAttribute(user, 'transB', 0) === 0 ? 0 : 1];
}

/** Whether the next node swaps the parts of a divided axis, as in a channel shuffle. */
export function isShuffled({ dependencies, node }: RuleContext, axis: number): boolean {
  const next = dependencies.index.soleUse(node.output[0] ?? '')?.node;
  const perm = next?.opType === 'Transpose' ? intsAttribute(next, 'perm') : undefined;
  return perm !== undefined && perm[axis] === axis + 1 && perm[axis + 1] === axis;
}

/** Maximum number of nodes to follow to the use of a divided axis. */
const maxSteps = 4;

/**
 * Whether the next nodes split the outer part of a divided axis by index. An example is the joint product for
 * queries, keys and values in PyTorch's MultiheadAttention.
 */
export function isSelected({ dependencies, node }: RuleContext, axis: number): boolean {
  let [name, at] = [node.output[0] ?? '', axis];
  for (let step = 0; step < maxSteps; step += 1) {
    const uses = dependencies.index.uses(name);
    const rank = dependencies.dims(name)?.length ?? 0;
    const isTaken = uses.every(({ node: user }) => {
      const axes =
        user.opType === 'Slice'
          ? (intsAttribute(user, 'axes') ?? dependencies.value(user.input[3])?.elements ?? [])
          : user.opType === 'Gather' || user.opType === 'Split'
            ? [intAttribute(user, 'axis', 0)]
            : [];
      return axes.length === 1 && typeof axes[0] === 'number' && axisOf(axes[0], rank) === at;
    });
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
