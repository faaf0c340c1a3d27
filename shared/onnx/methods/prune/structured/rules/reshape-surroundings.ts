import { intAttribute, intsAttribute } from '../../../../model/graph/attributes.ts';
import type { Dim } from '../../../../model/graph/value-info.ts';
import { axisOf, isKnown, productOf } from '../../../../model/infer/value.ts';
import type { RuleContext } from './rule-context.ts';

/** Output dimensions, of which one that is not known follows from the others where those before `axis` are kept. */
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

/** The last size of an output that a product of matrices has to find there, by its constant weight. */
function demandedSize({ dependencies, node }: RuleContext): number | undefined {
  const user = dependencies.index.uses(node.output[0] ?? '').find(({ position }) => position === 0)?.node;
  const dims = dependencies.constant(user?.input[1])?.dims;
  if (user === undefined || dims?.length !== 2 || user.domain !== '') return undefined;
  if (user.opType === 'MatMul') return dims[0];
  if (user.opType !== 'Gemm' || intAttribute(user, 'transA', 0) !== 0) return undefined;
  return dims[intAttribute(user, 'transB', 0) === 0 ? 0 : 1];
}

/** Output dimensions; the last one from its users where it was not inferred. */
function demanded(context: RuleContext): readonly Dim[] | undefined {
  const dims = context.outputDims();
  const size = isKnown(dims?.at(-1)) ? undefined : demandedSize(context);
  return size === undefined ? dims : dims?.with(-1, size);
}

/** The dimensions of a reshape's output, as far as its neighbours determine them. */
export const knownOutput = (
  context: RuleContext,
  from: readonly Dim[],
  axis: number,
): readonly Dim[] | undefined => filled(from, demanded(context), axis);

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
