import { gridSize } from '../sampling/grid.ts';
import type { Params } from '../types.ts';
import { faultsOfConditions, isActive } from './conditions.ts';
import { maxExperiments, maxParameters, maxTrials } from './limits.ts';
import {
  faultOfValue,
  faultsOfParameter,
  type Parameters,
  type SpecFault,
  SweepParameter,
  suggestName,
} from './parameter.ts';

/** Most points of a grid that are counted. */
const maxPoints = 1_000_000;

/**
 * Return the faults of a sweep over several of its fields, in any state of validity: fields that are wrong in
 * themselves are passed over, so that a caller learns all faults at once.
 */
export function faultsOfSweep(fields: Readonly<Record<string, unknown>>): readonly SpecFault[] {
  const given = readable(fields['parameters']);
  const single = Object.entries(given).flatMap(([name, parameter]) => faultsOfParameter(name, parameter));
  const conditions = faultsOfConditions(given);
  const isWhole =
    isRecord(fields['parameters']) &&
    Object.keys(given).length === Object.keys(fields['parameters']).length &&
    single.length + conditions.length === 0;
  return [
    ...faultsOfNumber(fields),
    ...single,
    ...conditions,
    ...(isWhole ? faultsOfStart(fields, given) : []),
    ...faultsOfTrials(fields, isWhole ? given : undefined),
    ...faultsOfRepeats(fields, given),
    ...(fields['config'] === undefined && fields['args'] !== true
      ? [{ name: 'config', message: 'is required, unless args is true' }]
      : []),
  ];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Return the parameters that have the right types. */
function readable(parameters: unknown): Parameters {
  const entries = isRecord(parameters) ? Object.entries(parameters) : [];
  return Object.fromEntries(
    entries.flatMap(([name, parameter]) => {
      const parsed = SweepParameter.safeParse(parameter);
      return parsed.success ? [[name, parsed.data]] : [];
    }),
  );
}

function faultsOfNumber({ method, parameters }: Readonly<Record<string, unknown>>): SpecFault[] {
  const count = isRecord(parameters) ? Object.keys(parameters).length : undefined;
  if (count === undefined) return [];
  if (count === 0 && method !== 'external')
    return [{ name: 'parameters', message: 'must hold at least one parameter' }];
  return count > maxParameters
    ? [{ name: 'parameters', message: `must hold at most ${maxParameters} parameters` }]
    : [];
}

/** Return the faults of the fixed first trials. */
function faultsOfStart(fields: Readonly<Record<string, unknown>>, parameters: Parameters): SpecFault[] {
  const { start, method, trials } = fields;
  if (!Array.isArray(start)) return [];
  if (method === 'external' && start.length > 0)
    return [{ name: 'start', message: 'is not taken with method external: ask for these trials' }];
  const fixed: readonly unknown[] = start;
  const faults: SpecFault[] = [];
  for (const [at, params] of fixed.entries()) {
    if (isRecord(params)) faults.push(...faultsOfFixed(`start.${at}`, params, parameters, method));
    if (faults.length >= maxFaults) break;
  }
  if (typeof trials === 'number' && trials < fixed.length)
    faults.push({ name: 'start', message: `must hold at most ${trials} trials, as many as the sweep has` });
  const keys = fixed.map((params) => JSON.stringify(isRecord(params) ? Object.entries(params).sort() : []));
  const first = new Map<string, number>();
  for (const [at, key] of keys.entries()) {
    const before = first.get(key);
    if (before === undefined) first.set(key, at);
    else if (method === 'grid') {
      faults.push({ name: `start.${at}`, message: `is the same as start.${before}` });
      break;
    }
  }
  return faults;
}

/** Faults of the first trials after which no others are looked for: each compares a name with all parameters. */
const maxFaults = 100;

/** Return the faults of values that a client fixes for a trial. */
export function faultsOfFixed(
  at: string,
  params: Readonly<Record<string, unknown>>,
  parameters: Parameters,
  method: unknown,
): SpecFault[] {
  const scalars: Params = Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => (isScalar(value) ? [[name, value]] : [])),
  );
  const faults = Object.entries(scalars).flatMap(([name, value]): SpecFault[] => {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (parameter === undefined) {
      const hint = suggestName(name, Object.keys(parameters));
      return [{ name: `${at}.${name}`, message: `is no parameter of the sweep; ${hint}` }];
    }
    const fault = faultOfValue(parameter, value);
    if (fault !== undefined) return [{ name: `${at}.${name}`, message: fault }];
    if (isActive(parameter.if, scalars)) return [];
    const needed = Object.entries(parameter.if ?? {}).map(
      ([parent, allowed]) => `${parent} ${[allowed].flat().map(String).join(' or ')}`,
    );
    return [{ name: `${at}.${name}`, message: `is set only with ${needed.join(' and ')}` }];
  });
  if (method !== 'grid') return faults;
  const missing = Object.entries(parameters).filter(
    ([name, parameter]) => !Object.hasOwn(scalars, name) && isActive(parameter.if, scalars),
  );
  if (missing.length > 0)
    faults.push({
      name: at,
      message: `needs all parameters of a grid; without value: ${missing.map(([name]) => name).join(', ')}`,
    });
  return faults;
}

const isScalar = (value: unknown): value is Params[string] =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** Return the faults of the number of trials. A grid has as many as it has points. */
function faultsOfTrials(
  { method, trials, repeats }: Readonly<Record<string, unknown>>,
  parameters: Parameters | undefined,
): SpecFault[] {
  if (method !== 'grid') {
    if (trials === undefined) return [{ name: 'trials', message: 'is required, except with method grid' }];
    return faultsOfExperiments(trials, repeats);
  }
  if (parameters === undefined) return [];
  const endless = Object.entries(parameters).filter(
    ([, { min, step }]) => min !== undefined && step === undefined,
  );
  if (endless.length > 0)
    return endless.map(([name]) => ({
      name: `parameters.${name}`,
      message: 'must have values or a step in a grid',
    }));
  const points = gridSize(parameters, maxPoints);
  if (points === undefined)
    return [
      {
        name: 'parameters',
        message: `make a grid of more than ${maxTrials} points, the most trials of a sweep; use fewer values, or method random, sobol or tpe`,
      },
    ];
  if (points > maxTrials)
    return [
      {
        name: 'parameters',
        message: `make a grid of ${points} points, and a sweep has at most ${maxTrials} trials; use fewer values, or method random, sobol or tpe`,
      },
    ];
  if (trials !== undefined && trials !== points)
    return [{ name: 'trials', message: `must be ${points}, the number of points of the grid, or left out` }];
  return faultsOfExperiments(points, repeats);
}

function faultsOfExperiments(trials: unknown, repeats: unknown): SpecFault[] {
  if (typeof trials !== 'number' || typeof repeats !== 'number') return [];
  return trials * repeats > maxExperiments
    ? [
        {
          name: 'repeats',
          message: `makes ${trials * repeats} experiments with ${trials} trials; a sweep has at most ${maxExperiments}`,
        },
      ]
    : [];
}

function faultsOfRepeats(fields: Readonly<Record<string, unknown>>, parameters: Parameters): SpecFault[] {
  const { repeat_seed } = fields;
  return typeof repeat_seed === 'string' && Object.hasOwn(parameters, repeat_seed)
    ? [
        {
          name: 'repeat_seed',
          message: 'must not be a parameter of the sweep: the number of the repeat is its value',
        },
      ]
    : [];
}

/**
 * Return the faults of a sweep's names beside those of its configuration.
 * @param file name of the configuration
 * @param paths paths of its single values, such as `optimizer.lr`
 */
export function faultsOfNames(
  spec: { parameters: Parameters; repeat_seed?: string | undefined },
  file: string,
  paths: readonly string[],
): SpecFault[] {
  const known = new Set(paths);
  const unknown = (name: string): string => `is no value of ${file}; ${suggestName(name, paths)}`;
  return [
    ...Object.keys(spec.parameters)
      .filter((name) => !known.has(name))
      .map((name) => ({ name: `parameters.${name}`, message: unknown(name) })),
    ...(spec.repeat_seed === undefined || known.has(spec.repeat_seed)
      ? []
      : [{ name: 'repeat_seed', message: unknown(spec.repeat_seed) }]),
  ];
}
