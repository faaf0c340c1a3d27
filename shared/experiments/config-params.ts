import { type ConfigValue, isMapping } from '../config/config-value.ts';
import { maxParam, maxTrackedName } from '../data/rules/tracked.ts';

/**
 * The scalars of a configuration as params, `a.b.c` each, items of lists by their index: the first 500. A leaf whose name
 * or value is longer than a param may be is left out. Stops at 500, however many leaves aliases make of a file.
 */
export function configParams(data: ConfigValue): Record<string, string> {
  const params = new Map<string, string>();
  let bytes = 0;
  for (const [name, value] of leaves(data, '')) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (params.size === maxParams || bytes > maxBytes) break;
    const isParam = name.trim() !== '' && name.length <= maxTrackedName && value.length <= maxParam;
    if (isParam) params.set(name, value);
  }
  return Object.fromEntries(params);
}

function* leaves(value: ConfigValue, path: string): Generator<readonly [string, string]> {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) yield* leaves(one, `${path}${path && '.'}${index}`);
  } else if (isMapping(value)) {
    for (const [name, one] of Object.entries(value)) yield* leaves(one, `${path}${path && '.'}${name}`);
  } else {
    yield [path, value === null ? '' : String(value)];
  }
}

/** Most params that a configuration gives an experiment. */
const maxParams = 500;
/** Bytes of names and values together: aliases can make a small file say the same long text often. */
const maxBytes = 200_000;
