import type * as core from 'zod/v4/core';
import { maskProblem } from './mask-problem.ts';
import type { FieldsMask } from './parse-mask.ts';
import { alternativesOf, type Shape } from './schema-shape.ts';

type Schema = core.$ZodType;
type Pair = [FieldsMask, Schema];

/** What must fit together for a mask to fit a shape: itself with the elements, or its sub-masks with the fields. */
function pairsBelow(mask: FieldsMask, shape: Shape): Pair[] {
  if (shape.kind === 'list') {
    const elements = shape.rest === undefined ? shape.items : [...shape.items, shape.rest];
    return elements.map((element) => [mask, element]);
  }
  if (shape.kind !== 'object') return [];
  return [...mask].flatMap(([name, sub]): Pair[] => {
    const field = shape.fields.get(name) ?? shape.rest;
    return sub === true || name === '*' || field === undefined ? [] : [[sub, field]];
  });
}

/**
 * Throws the 400 problem "Mask error: Mask is inconsistent with model" where a mask has a sub-mask on a scalar.
 * Needs the schema alone, so it can be told before anything is done. A union fits when every one of its alternatives
 * that is no scalar does, and there is one. An empty sub-mask asks nothing of what is inside.
 */
export function requireConsistent(mask: FieldsMask, schema: Schema): void {
  // Without recursion, and every pair once: the depth of a mask is the caller's choice, and schemas may be recursive.
  const seen = new Map<FieldsMask, Set<Schema>>();
  const waiting: Pair[] = [[mask, schema]];
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const [next, against] = pair;
    const schemas = seen.get(next) ?? new Set();
    if (schemas.has(against)) continue;
    seen.set(next, schemas.add(against));
    const shapes = alternativesOf(against).map(({ shape }) => shape);
    const structured = shapes.filter(({ kind }) => kind !== 'scalar');
    if (structured.length === 0) throw maskProblem('Mask error: Mask is inconsistent with model');
    if (next.size === 0) continue;
    for (const shape of structured) waiting.push(...pairsBelow(next, shape));
  }
}
