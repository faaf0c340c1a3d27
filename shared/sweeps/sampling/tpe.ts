import { loss } from '../early-stopping.ts';
import type { Parameters } from '../spec/parameter.ts';
import type { Params, TrialResult } from '../types.ts';
import { domainOf, sizeOf } from './domain.ts';
import { estimateDensity, type Point } from './parzen.ts';
import { scaleOf } from './scale.ts';
import { seeded } from './seeded.ts';

/** Trials with a result before the estimator chooses. */
export const startupTrials = 10;

/** Points drawn from the density of the good trials, of which the best is taken. */
const candidates = 24;

/**
 * Choose values near those of the best trials: the tree-structured Parzen estimator (Bergstra et al., Algorithms for
 * Hyper-Parameter Optimization, NIPS 2011) as Optuna's TPESampler does it.
 *
 * The trials are split into the best `min(⌈n/10⌉, 25)` of `n` and all others. With a density of the values of each,
 * l(x) and g(x), the candidate of the largest l(x) / g(x) is taken out of 24 drawn from l(x): it has the largest
 * expected improvement. Parameters without a condition are chosen together, so that the densities know which values
 * go well with each other; those with a condition one by one, from the trials that had them.
 *
 * Trials that still run count among the others, as if they were bad (the constant liar), so that trials at the same
 * time do not try the same. So do failed trials.
 *
 * @param parameters that a trial may have
 * @param results in any order
 */
export function tpeValues(
  { parameters, goal, seed }: { parameters: Parameters; goal: 'minimize' | 'maximize'; seed: number },
  trial: number,
  results: readonly TrialResult[],
): (name: string) => Params[string] | undefined {
  const { good, others } = splitTrials(results, goal);
  const searched = Object.keys(parameters)
    .toSorted()
    .filter((name) => isSearched(parameters, name));
  const together = searched.filter((name) => parameters[name]?.if === undefined);
  const chosen = new Map<string, Params[string]>();
  for (const names of [
    together,
    ...searched.filter((name) => !together.includes(name)).map((name) => [name]),
  ]) {
    if (names.length === 0) continue;
    const random = seeded(seed, trial, 'tpe', ...names);
    const values = improve(names, parameters, { good, others, random });
    for (const [at, name] of names.entries()) {
      const value = values[at];
      if (value !== undefined) chosen.set(name, value);
    }
  }
  return (name) => chosen.get(name);
}

const isSearched = (parameters: Parameters, name: string): boolean => {
  const parameter = parameters[name];
  return parameter !== undefined && sizeOf(domainOf(parameter)) !== 1;
};

/** Return whether enough trials have a result for the estimator to choose. */
export const hasStarted = (results: readonly TrialResult[]): boolean =>
  results.filter(({ status }) => status === 'complete' || status === 'stopped early').length >= startupTrials;

/**
 * Split trials into the best and the others, each in the order of their numbers. Trials that were stopped early are
 * worse than those that were not.
 */
function splitTrials(
  results: readonly TrialResult[],
  goal: 'minimize' | 'maximize',
): { good: readonly Params[]; others: readonly Params[] } {
  const known = results.filter(({ status }) => status !== 'cancelled').toSorted((a, b) => a.trial - b.trial);
  const ended = known.filter(({ status }) => status === 'complete' || status === 'stopped early');
  const ranked = ended
    .filter(({ value }) => Number.isFinite(loss(value, goal)))
    .toSorted(
      (a, b) =>
        Number(a.status !== 'complete') - Number(b.status !== 'complete') ||
        loss(a.value, goal) - loss(b.value, goal),
    );
  const best = new Set(ranked.slice(0, Math.min(Math.ceil(ended.length / 10), 25)));
  const paramsOf = (isBest: boolean) =>
    known.filter((one) => best.has(one) === isBest).map(({ params }) => params);
  return { good: paramsOf(true), others: paramsOf(false) };
}

interface Split {
  good: readonly Params[];
  others: readonly Params[];
  random: () => number;
}

/** Return the values of some parameters with the largest expected improvement of the candidates. */
function improve(
  names: readonly string[],
  parameters: Parameters,
  { good, others, random }: Split,
): Params[string][] {
  const scales = names.map((name) => scaleOf(domainOf(parameters[name] ?? {})));
  const axes = scales.map(({ axis }) => axis);
  const pointsOf = (trials: readonly Params[]): Point[] =>
    trials.flatMap((params) => {
      const point = scales.map(({ positionOf }, at) => positionOf(params[names[at] ?? '']));
      return point.every((position) => position !== undefined) ? [point] : [];
    });
  const near = estimateDensity(axes, pointsOf(good));
  const far = estimateDensity(axes, pointsOf(others));
  const drawn = Array.from({ length: candidates }, () => {
    const position = near.draw(random);
    const values = scales.map((scale, at) => scale.valueOf(position[at] ?? 0));
    const [point = []] = pointsOf([Object.fromEntries(names.map((name, at) => [name, values[at] ?? 0]))]);
    return { values, gain: near.logDensity(point) - far.logDensity(point) };
  });
  return drawn.reduce((one, other) => (other.gain > one.gain ? other : one)).values;
}
