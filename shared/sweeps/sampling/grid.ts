import { conditionOrder, isActive } from '../spec/conditions.ts';
import type { Parameters } from '../spec/parameter.ts';
import type { Params, TrialResult } from '../types.ts';
import { domainOf, sizeOf, valueAt } from './domain.ts';

/**
 * Return a point of the grid of all values of all parameters. The last parameter changes first. Parameters whose
 * condition does not hold have no value, and make no points of their own.
 *
 * Points that fixed first trials have already tried are left out. So are those that trials with lower numbers have
 * tried, where the sweep got more values since: the new points come after all that is known.
 *
 * @param fixed values of the fixed first trials, which have the first numbers
 * @returns undefined after the last point
 */
export function gridPoint(
  parameters: Parameters,
  trial: number,
  fixed: readonly Params[],
  results: readonly TrialResult[],
): Params | undefined {
  const earlier = results.filter((result) => result.trial < trial && result.trial >= fixed.length);
  const tried = new Set([...fixed, ...earlier.map(({ params }) => params)].map(keyOf));
  let skip = trial - fixed.length - earlier.length;
  for (const point of gridPoints(parameters)) {
    if (tried.has(keyOf(point))) continue;
    if (skip === 0) return point;
    skip -= 1;
  }
  return undefined;
}

/** Count the points of a grid, up to a limit. @returns undefined above the limit */
export function gridSize(parameters: Parameters, limit: number): number | undefined {
  const names = conditionOrder(parameters);
  const parents = new Set(names.flatMap((name) => Object.keys(parameters[name]?.if ?? {})));
  let size = 0;

  // Only parameters that a condition names are gone through; the others multiply.
  const count = (at: number, chosen: Params, points: number): void => {
    const name = names[at];
    const parameter = name === undefined ? undefined : parameters[name];
    if (size + points > limit || name === undefined || parameter === undefined) {
      size += points;
      return;
    }
    const domain = domainOf(parameter);
    const values = isActive(parameter.if, chosen) ? sizeOf(domain) : undefined;
    if (values === undefined) count(at + 1, chosen, points);
    else if (!parents.has(name)) count(at + 1, chosen, points * values);
    else {
      for (let choice = 0; choice < values && size <= limit; choice += 1)
        count(at + 1, { ...chosen, [name]: valueAt(domain, choice) }, points);
    }
  };
  count(0, {}, 1);
  return size > limit ? undefined : size;
}

const keyOf = (params: Params): string =>
  JSON.stringify(Object.entries(params).sort(([one], [other]) => (one < other ? -1 : 1)));

/** Yield the points of a grid. A parameter with neither values nor a step is left out. */
export function* gridPoints(parameters: Parameters): Generator<Params> {
  const names = conditionOrder(parameters);
  yield* pointsFrom(0, {});

  function* pointsFrom(at: number, chosen: Params): Generator<Params> {
    const name = names[at];
    const parameter = name === undefined ? undefined : parameters[name];
    if (name === undefined || parameter === undefined) {
      yield { ...chosen };
      return;
    }
    const domain = domainOf(parameter);
    const size = sizeOf(domain);
    if (size === undefined || !isActive(parameter.if, chosen)) {
      yield* pointsFrom(at + 1, chosen);
      return;
    }
    for (let choice = 0; choice < size; choice += 1)
      yield* pointsFrom(at + 1, { ...chosen, [name]: valueAt(domain, choice) });
  }
}
