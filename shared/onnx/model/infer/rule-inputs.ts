import { intsAttribute } from '../graph/attributes.ts';
import type { Dim } from '../graph/value-info.ts';
import { type InferenceContext, isKnown, type Value } from './value.ts';

/** Numbers that an operator takes as an attribute in old opsets and as an input in newer ones. */
export function numbersOf(
  { node, inputs }: InferenceContext,
  attribute: string,
  position: number,
): readonly number[] | undefined {
  const fromInput = inputs[position]?.elements;
  if (fromInput?.every(isKnown)) return fromInput;
  return node.input[position] ? undefined : intsAttribute(node, attribute);
}

/** Whether an optional input is there. */
export const isGiven = ({ node }: InferenceContext, position: number): boolean =>
  (node.input[position] ?? '') !== '';

/** A first output of an input's type. */
export const typed = (x: Value | undefined, dims: readonly Dim[] | undefined): (Value | undefined)[] => [
  x && { type: x.type, dims },
];
