import type { ModelSummary } from '../inspect/model-summary.ts';
import { ModelError } from '../model-error.ts';
import { matchShapes } from '../shapes/match-shapes.ts';
import { parseShapes } from '../shapes/parse-shapes.ts';

/** The shapes that a text gives to a model's inputs, by name. Throws a `ModelError` that names both where they differ. */
export function requestedShapes(
  text: string,
  { inputs }: ModelSummary,
): ReadonlyMap<string, readonly (number | null)[]> {
  const matched = matchShapes(parseShapes(text), inputs);
  if (!matched.ok) throw new ModelError(`inputs: ${matched.fault}.`);
  return new Map(matched.shapes.map(({ name, dims }) => [name, dims]));
}
