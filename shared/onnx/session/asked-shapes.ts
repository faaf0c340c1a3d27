import { ModelFault } from '../model-fault.ts';
import { shapeText } from '../shapes/match-shapes.ts';
import type { AskedShapes } from '../stage/stage-task.ts';

/**
 * Refuses a data set whose samples are not what was asked for: silently taking either would be a guess.
 *
 * @throws ModelFault naming both shapes of each tensor that differs
 */
export function requireAsked(
  side: keyof AskedShapes,
  asked: AskedShapes | undefined,
  tensors: Iterable<readonly [name: string, dims: readonly number[]]>,
): void {
  const differing: string[] = [];
  for (const [name, dims] of tensors) {
    const wanted = asked && Object.hasOwn(asked[side], name) ? asked[side][name] : undefined;
    if (wanted === undefined) continue;
    if (wanted.length === dims.length && wanted.every((dim, axis) => dim === null || dim === dims[axis]))
      continue;
    differing.push(
      `${JSON.stringify(name)} is ${shapeText(dims)} for each sample of the data set, but ${shapeText(wanted)} was given`,
    );
  }
  if (differing.length === 0) return;
  throw new ModelFault(
    `${side}: ${differing.join('; ')}. The set decides: give its shapes, or ? for what it may choose.`,
  );
}
