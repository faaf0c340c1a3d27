import type { Params } from '../types.ts';
import { faultOfValue, type Parameters, type SpecFault, suggestName } from './parameter.ts';

/** Return whether a parameter is set, given the values of the parameters that its condition names. */
export function isActive(condition: Condition | undefined, params: Params): boolean {
  return Object.entries(condition ?? {}).every(([name, allowed]) => {
    const value = params[name];
    return value !== undefined && listOf(allowed).includes(value);
  });
}

/** Values of other parameters with which a parameter is set. */
export type Condition = Readonly<Record<string, Params[string] | readonly Params[string][]>>;

const listOf = (allowed: Condition[string]): readonly Params[string][] =>
  typeof allowed === 'object' ? allowed : [allowed];

/**
 * Return the names of parameters so that each comes after those that its condition names, else by name: the order of
 * the keys of a mapping means nothing, and not every store keeps it.
 */
export function conditionOrder(parameters: Parameters): readonly string[] {
  const order = new Set<string>();
  const add = (name: string, path: readonly string[]): void => {
    if (order.has(name) || path.includes(name)) return;
    for (const parent of Object.keys(parameters[name]?.if ?? {})) add(parent, [...path, name]);
    if (Object.hasOwn(parameters, name)) order.add(name);
  };
  for (const name of Object.keys(parameters).toSorted()) add(name, []);
  return [...order];
}

/** Return the faults of conditions: unknown parameters, circles, and conditions that never hold. */
export function faultsOfConditions(parameters: Parameters): SpecFault[] {
  return Object.keys(parameters).flatMap((name) => {
    const single = faultsOfOwn(name, parameters);
    if (single.length > 0) return single;
    const circle = circleFrom(name, parameters);
    const at = `parameters.${name}.if`;
    if (circle !== undefined) return [{ name: at, message: `goes in a circle: ${circle.join(', ')}` }];
    const never = contradiction(name, parameters);
    return never === undefined ? [] : [{ name: at, message: `never holds: ${never}` }];
  });
}

function faultsOfOwn(name: string, parameters: Parameters): SpecFault[] {
  const names = Object.keys(parameters).filter((one) => one !== name);
  return Object.entries(parameters[name]?.if ?? {}).flatMap(([parent, allowed]) => {
    const at = `parameters.${name}.if.${parent}`;
    const parameter = Object.hasOwn(parameters, parent) ? parameters[parent] : undefined;
    if (parent === name) return [{ name: at, message: 'must be another parameter' }];
    if (parameter === undefined)
      return [{ name: at, message: `is no parameter of the sweep; ${suggestName(parent, names)}` }];
    if (parameter.min !== undefined && parameter.step === undefined)
      return [{ name: at, message: 'must be a parameter with values or a step' }];
    return listOf(allowed).flatMap((value) => {
      const fault = faultOfValue(parameter, value);
      return fault === undefined ? [] : [{ name: at, message: `never holds: ${parent} ${fault}` }];
    });
  });
}

/** Return a circle of conditions that a parameter is part of, as names from it to itself. */
function circleFrom(start: string, parameters: Parameters): readonly string[] | undefined {
  const visited = new Set<string>();
  const walk = (name: string, path: readonly string[]): readonly string[] | undefined => {
    for (const parent of Object.keys(parameters[name]?.if ?? {})) {
      if (parent === start) return [...path, name, start];
      if (visited.has(parent)) continue;
      visited.add(parent);
      const found = walk(parent, [...path, name]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(start, []);
}

/**
 * Find two conditions that exclude each other: all those that a parameter needs, its own and those of the parameters
 * that it names, must hold together. Each allows a set of values, so they hold together if the sets of each
 * parameter intersect.
 */
function contradiction(name: string, parameters: Parameters): string | undefined {
  const needed = new Map<string, { values: ReadonlySet<Params[string]>; by: string }>();
  const visited = new Set<string>();
  const queue = [name];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (visited.has(next)) continue;
    visited.add(next);
    for (const [parent, allowed] of Object.entries(parameters[next]?.if ?? {})) {
      const before = needed.get(parent);
      const values = new Set(listOf(allowed).filter((value) => before?.values.has(value) !== false));
      if (values.size === 0 && before !== undefined)
        return `${before.by} needs ${parent} ${[...before.values].map(String).join(' or ')}, ${next} needs ${parent} ${listOf(allowed).map(String).join(' or ')}`;
      needed.set(parent, { values, by: before === undefined ? next : before.by });
      queue.push(parent);
    }
  }
  return undefined;
}
