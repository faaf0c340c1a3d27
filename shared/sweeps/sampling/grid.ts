import { conditionOrder, isActive } from '../spec/conditions.ts';
import { maxTrials } from '../spec/limits.ts';
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
  for (let at = tried.size === 0 ? skip : 0; ; at += 1) {
    const keptPoint = pointAt(parameters, at);
    if (keptPoint === undefined || tried.size === 0) return keptPoint?.point;
    keptPoint.key ??= keyOf(keptPoint.point);
    if (tried.has(keptPoint.key)) continue;
    if (skip === 0) return keptPoint.point;
    skip -= 1;
  }
}

/** Return a point of a grid. The points before it are kept for the next trials, as long as the parameters are. */
function pointAt(parameters: Parameters, at: number): KeptPoint | undefined {
  const kept = keptPoints.get(parameters) ?? { left: gridPoints(parameters), points: [] };
  keptPoints.set(parameters, kept);
  while (kept.points.length <= at) {
    const { value, done } = kept.left.next();
    if (done === true) return undefined;
    kept.points.push({ point: value, key: undefined });
  }
  return kept.points[at];
}

interface KeptPoint {
  point: Params;
  key: string | undefined;
}

const keptPoints = new WeakMap<Parameters, { left: Generator<Params, void>; points: KeptPoint[] }>();

/**
 * Count the points of a grid up to a limit, without going through them. Points that leave the same parameters without
 * a value count together, so the work follows the conditions and not the values.
 * @returns undefined above the limit. Where conditions alone make more points than `maxTrials`, the limit is that
 */
export function gridSize(parameters: Parameters, limit: number): number | undefined {
  const names = conditionOrder(parameters).filter((name) => parameters[name] !== undefined);
  const childrenOf = (name: string) =>
    names.filter((child) => Object.hasOwn(parameters[child]?.if ?? {}, name));
  let independent = 1;
  /** Points so far by the parameters after them that have no value, as bits. */
  let states = new Map<bigint, number>([[0n, 1]]);
  for (const name of names) {
    const parameter = parameters[name];
    const size = parameter && sizeOf(domainOf(parameter));
    if (parameter === undefined || size === undefined) continue;
    const bit = bitOf(names, name);
    const children = childrenOf(name);
    if (children.length === 0 && parameter.if === undefined) {
      independent *= size;
      continue;
    }
    // A single value changes no count. Without children, only its bit would go.
    if (children.length === 0 && size === 1) continue;
    const all = children.reduce((mask, child) => mask | bitOf(names, child), 0n);
    const masks = children.length === 0 ? [[0n, size] as const] : valuesByMask(name, children);
    const next = new Map<bigint, number>();
    let points = 0;
    for (const [state, count] of states) {
      const without = state & ~bit;
      for (const [mask, times] of without === state ? masks : [[all, 1] as const]) {
        next.set(without | mask, (next.get(without | mask) ?? 0) + count * times);
        points += count * times;
        if (points > maxTrials) return undefined;
      }
    }
    states = next;
  }
  const size = independent * [...states.values()].reduce((sum, count) => sum + count, 0);
  return size > limit ? undefined : size;

  /** Count the values of a parameter by the children that they leave without a value. */
  function valuesByMask(name: string, children: readonly string[]): readonly (readonly [bigint, number])[] {
    const parameter = parameters[name];
    const domain = parameter && domainOf(parameter);
    const size = domain && sizeOf(domain);
    if (domain === undefined || size === undefined) return [];
    // So many values alone are too many points.
    if (size > maxTrials) return [[0n, size]];
    const allowing = children.map((child) => ({
      bit: bitOf(names, child),
      allowed: new Set([parameters[child]?.if?.[name] ?? []].flat()),
    }));
    const counts = new Map<bigint, number>();
    for (let at = 0; at < size; at += 1) {
      const value = valueAt(domain, at);
      const mask = allowing.reduce((sum, { bit, allowed }) => (allowed.has(value) ? sum : sum | bit), 0n);
      counts.set(mask, (counts.get(mask) ?? 0) + 1);
    }
    return [...counts];
  }
}

const bitOf = (names: readonly string[], name: string): bigint => 1n << BigInt(names.indexOf(name));

const keyOf = (params: Params): string =>
  JSON.stringify(Object.entries(params).sort(([one], [other]) => (one < other ? -1 : 1)));

/** Yield the points of a grid. A parameter with neither values nor a step is left out. */
export function* gridPoints(parameters: Parameters): Generator<Params, void> {
  const names = conditionOrder(parameters);
  yield* pointsFrom(0, {});

  function* pointsFrom(at: number, chosen: Params): Generator<Params, void> {
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
