import { domainOf, valueAtShare } from './sampling/domain.ts';
import { gridPoint } from './sampling/grid.ts';
import { seeded } from './sampling/seeded.ts';
import { sobolShare } from './sampling/sobol.ts';
import { hasStarted, tpeValues } from './sampling/tpe.ts';
import { conditionOrder, isActive } from './spec/conditions.ts';
import type { SweepParameter } from './spec/parameter.ts';
import type { SweepSpec } from './spec.ts';
import type { Params, TrialResult } from './types.ts';

/** Fields of a sweep that decide the values of its trials. */
export interface Search extends Pick<SweepSpec, 'method' | 'seed' | 'parameters' | 'start'> {
  goal: 'minimize' | 'maximize';
}

/**
 * Return the values of a trial. The same arguments always give the same values.
 *
 * Random values depend on the seed, the number of the trial and the name of the parameter alone, so that one more
 * parameter does not change the others. Sobol's dimensions are the parameters in the order of their names. The first
 * trials of TPE are points of Sobol's sequence. Parameters whose condition does not hold have no value.
 *
 * @param trial number of the trial, from 0; the fixed first trials have the first numbers
 * @param results trials known so far. Only grids that were extended and TPE read them
 * @throws RangeError for a trial after the last point of a grid
 */
export function suggest(search: Search, trial: number, results: readonly TrialResult[]): Params {
  const { method, parameters, start } = search;
  const fixed = start[trial] ?? {};
  if (method === 'grid' && trial >= start.length) {
    const point = gridPoint(parameters, trial, start, results);
    if (point === undefined) throw new RangeError(`the grid has no trial ${trial}`);
    return point;
  }
  return choose(search, fixed, valuesOf(search, trial, results));
}

/** Return the values that the method gives the parameters of a trial. */
function valuesOf(search: Search, trial: number, results: readonly TrialResult[]): ValueOf {
  const { method, parameters, seed, goal } = search;
  const random: ValueOf = (name, parameter) => valueAtShare(domainOf(parameter), seeded(seed, trial, name)());
  if (method === 'sobol' || (method === 'tpe' && !hasStarted(results))) {
    const names = Object.keys(parameters).toSorted();
    return (name, parameter) =>
      valueAtShare(domainOf(parameter), sobolShare(trial, names.indexOf(name), `${seed}/${name}`));
  }
  if (method !== 'tpe') return random;
  const values = tpeValues({ parameters, seed, goal }, trial, results);
  return (name, parameter) => values(name) ?? random(name, parameter);
}

type ValueOf = (name: string, parameter: SweepParameter) => Params[string];

/** Return the given values, and choose the others whose condition holds. */
function choose({ parameters }: Search, given: Params, valueFor: ValueOf): Params {
  const params: Params = {};
  for (const name of conditionOrder(parameters)) {
    const parameter = parameters[name];
    if (parameter === undefined || !isActive(parameter.if, params)) continue;
    params[name] = given[name] ?? valueFor(name, parameter);
  }
  return params;
}
