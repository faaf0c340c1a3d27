import type { Dim } from '../../graph/value-info.ts';
import { isKnown } from '../../infer/value.ts';

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

const places = (count: number, source: (at: number) => number): Int32Array =>
  Int32Array.from({ length: count }, (_, at) => source(at));

const whole = (axis: number, count: number): ReshapeMap => ({
  axis,
  sources: places(count, (at) => at),
  ties: [],
  isWhole: true,
});

/** Each channel lies at `times` places one after the other, all of it `rows` times. */
const merged = (axis: number, count: number, times: number, rows: number): ReshapeMap => ({
  axis,
  sources: places(count * times * rows, (at) => Math.floor(at / times) % count),
  ties: [],
  isWhole: false,
});

/** The axis tells the block of channels: whole blocks go. */
function outer(axis: number, count: number, blocks: number): ReshapeMap {
  const size = count / blocks;
  const ties = Array.from({ length: count }, (_, at): [number, number] => [at, at - (at % size)]);
  return { axis, sources: places(blocks, (at) => at * size), ties, isWhole: false };
}

/** The axis tells the place within a block: it goes from all blocks at once. */
function inner(axis: number, count: number, size: number): ReshapeMap {
  const ties = Array.from({ length: count }, (_, at): [number, number] => [at, at % size]);
  return { axis, sources: places(size, (at) => at), ties, isWhole: false };
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

/** What one output axis is to the channels, when `count` of them lie `stride` values apart. */
function byStride(
  axis: number,
  size: number,
  own: number,
  { count, stride, preferInner }: { count: number; stride: number; preferInner: boolean },
): ReshapeMap | undefined {
  if (own === stride && size === count) return whole(axis, count);
  if (stride % own === 0 && (size * own) % (count * stride) === 0)
    return merged(axis, count, stride / own, (size * own) / (count * stride));
  if (size === 1 || count % size !== 0) return undefined;
  if (preferInner) return own === stride ? inner(axis, count, size) : undefined;
  return own * size === count * stride ? outer(axis, count, size) : undefined;
}

/** The same where sizes behind the axis are not known, but those before it are the same. */
function byPrefix(axis: number, size: Dim | undefined, count: number): ReshapeMap | undefined {
  if (!isKnown(size) || size < 1) return undefined;
  if (size === count) return whole(axis, count);
  if (size % count === 0) return merged(axis, count, size / count, 1);
  return size > 1 && count % size === 0 ? outer(axis, count, size) : undefined;
}

/**
 * Follows `count` channels on `axis` through a reshape from `from` to `to`, row-major as ONNX's Reshape. Where the axis
 * is divided the channels are tied in blocks, so that the outer part carries them, or with `preferInner` the inner
 * one. `samePrefix` tells that the axes before `axis` are kept, for shapes that are not known to the end. Undefined
 * where the channels cannot be followed.
 */
export function mapReshape(
  from: readonly Dim[],
  to: readonly Dim[],
  axis: number,
  count: number,
  { preferInner, samePrefix }: { preferInner: boolean; samePrefix: boolean },
): ReshapeMap | undefined {
  const stride = strides(from)[axis];
  if (stride === undefined) return samePrefix ? byPrefix(axis, to[axis], count) : undefined;
  const own = strides(to);
  for (let at = to.length - 1; at >= 0; at -= 1) {
    const [size, behind] = [to[at], own[at]];
    if (behind === undefined || !isKnown(size) || behind < 1 || stride < 1) break;
    const found = byStride(at, size, behind, { count, stride, preferInner });
    if (found !== undefined) return found;
  }
  return samePrefix ? byPrefix(axis, to[axis], count) : undefined;
}
