import type { Model } from '../file/model.ts';
import { intsAttribute } from '../graph/attributes.ts';
import type { Dim, ValueType } from '../graph/value-info.ts';
import type { NodeProto } from '../proto/onnx_pb.js';

/** The inferred facts of a value: type, shape, and for short integer values (shapes, axes) the elements. */
export interface Value extends ValueType {
  /** Elements of an integer scalar or vector; null for an unknown element. */
  elements?: readonly Dim[] | undefined;
}

/** A node with the inferred facts of its inputs. */
export interface InferenceContext {
  node: NodeProto;
  model: Model;
  /** The inferred value of each input; undefined for absent and unknown ones. */
  inputs: readonly (Value | undefined)[];
  /** All values inferred so far. The bodies of the node may use them. */
  values: ReadonlyMap<string, Value>;
  /** Infer the values of a body of the node, for example of a branch of an If. */
  inferBody: (body: Model['graph']) => ReadonlyMap<string, Value>;
}

/** Infers a node's outputs in order. Unknown outputs are undefined. */
export type Rule = (context: InferenceContext) => readonly (Value | undefined)[] | undefined;

export const isKnown = (dim: Dim | undefined): dim is number => typeof dim === 'number';

/** Return the dimensions with another size on an axis; undefined if there is no such axis. */
export const withDim = (
  dims: readonly Dim[] | undefined,
  axis: number,
  dim: Dim,
): readonly Dim[] | undefined =>
  dims !== undefined && axis >= -dims.length && axis < dims.length ? dims.with(axis, dim) : undefined;

/** A negative axis counts from the end. */
export const axisOf = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis);

/** Product of dimensions; null if one is unknown. */
export function productOf(dims: readonly Dim[]): Dim {
  let product = 1;
  for (const dim of dims) {
    if (!isKnown(dim)) return dims.length === 1 ? dim : null;
    product *= dim;
  }
  return product;
}

/** Shape of an elementwise operation on two shapes (ONNX multidirectional broadcasting). */
export function broadcast(
  a: readonly Dim[] | undefined,
  b: readonly Dim[] | undefined,
): readonly Dim[] | undefined {
  if (a === undefined || b === undefined) return undefined;
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, at) => {
    const x = a[at - rank + a.length] ?? (at < rank - a.length ? 1 : null);
    const y = b[at - rank + b.length] ?? (at < rank - b.length ? 1 : null);
    if (x === 1) return y;
    if (y === 1 || x === y) return x;
    // If one is known and not 1, the other must be equal or 1.
    return isKnown(x) ? x : isKnown(y) ? y : null;
  });
}

/** Read numbers that are an attribute in old opsets and an input in newer ones. */
export function numbersOf(
  { node, inputs }: InferenceContext,
  attribute: string,
  position: number,
): readonly number[] | undefined {
  const fromInput = inputs[position]?.elements;
  if (fromInput?.every(isKnown)) return fromInput;
  return node.input[position] ? undefined : intsAttribute(node, attribute);
}

/** Whether an optional input is present. */
export const isGiven = ({ node }: InferenceContext, position: number): boolean =>
  (node.input[position] ?? '') !== '';

/** Return a single output with the type of an input. */
export const typed = (x: Value | undefined, dims: readonly Dim[] | undefined): (Value | undefined)[] => [
  x && { type: x.type, dims },
];
