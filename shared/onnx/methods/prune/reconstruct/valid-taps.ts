import { intsAttribute, stringAttribute } from '../../../model/graph/attributes.ts';
import { isKnown } from '../../../model/infer/value.ts';
import type { DependencyGraph } from '../structured/dependency-graph.ts';
import type { Consumer } from './consumers.ts';

/** Part of the places of one axis at which a position of the kernel lies within the input. */
function validAlong(
  size: number,
  outputs: number,
  tap: number,
  stride: number,
  dilation: number,
  before: number,
): number {
  let within = 0;
  for (let place = 0; place < outputs; place += 1) {
    const at = place * stride + tap * dilation - before;
    if (at >= 0 && at < size) within += 1;
  }
  return outputs === 0 ? 1 : within / outputs;
}

/**
 * For each position of a consumer's kernel the part of its outputs at which it lies within the input, not in the padding.
 * Undefined where a size that this depends on is not known.
 */
export function validTaps(
  { node, weight, input }: Consumer,
  dependencies: DependencyGraph,
): Float64Array | undefined {
  if (node.opType !== 'Conv') return Float64Array.of(1);
  const kernel = weight.dims.slice(2);
  const pads = intsAttribute(node, 'pads') ?? [];
  const isPlain = stringAttribute(node, 'auto_pad', 'NOTSET') === 'NOTSET';
  if (isPlain && pads.every((pad) => pad === 0))
    return new Float64Array(kernel.reduce((product, size) => product * size, 1)).fill(1);
  const from = dependencies.dims(input)?.slice(2) ?? [];
  const to = dependencies.dims(node.output[0])?.slice(2) ?? [];
  if (!isPlain || from.length !== kernel.length || ![...from, ...to].every(isKnown)) return undefined;
  const strides = intsAttribute(node, 'strides');
  const dilations = intsAttribute(node, 'dilations');
  let parts = Float64Array.of(1);
  for (const [axis, size] of kernel.entries()) {
    const [inputs, outputs] = [Number(from[axis]), Number(to[axis])];
    const along = Array.from({ length: size }, (_, tap) =>
      validAlong(inputs, outputs, tap, strides?.[axis] ?? 1, dilations?.[axis] ?? 1, pads[axis] ?? 0),
    );
    parts = Float64Array.from([...parts].flatMap((part) => along.map((own) => part * own)));
  }
  return parts;
}
