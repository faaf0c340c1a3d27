import { shapeText } from '../../model/inspect/match-shapes.ts';
import { ModelError } from '../../model/model-error.ts';
import type { RequestedShapes } from './stage-task.ts';

/**
 * Refuse a data set whose samples have other shapes than requested. Choosing one of the two silently would be a
 * guess.
 *
 * @throws ModelError naming both shapes of each differing tensor
 */
export function requireRequestedShapes(
  side: keyof RequestedShapes,
  asked: RequestedShapes | undefined,
  tensors: Iterable<readonly [name: string, dims: readonly number[]]>,
): void {
  const differing: string[] = [];
  for (const [name, dims] of tensors) {
    const wanted = asked && Object.hasOwn(asked[side], name) ? asked[side][name] : undefined;
    if (wanted === undefined) continue;
    if (wanted.length === dims.length && wanted.every((dim, axis) => dim === null || dim === dims[axis]))
      continue;
    differing.push(
      `${JSON.stringify(name)} is ${shapeText(dims)} for each sample of the data set, but ${shapeText(wanted)} was requested`,
    );
  }
  if (differing.length === 0) return;
  throw new ModelError(
    `${side}: ${differing.join('; ')}. Give the shapes of the set, or ? for dimensions that the set determines.`,
  );
}
