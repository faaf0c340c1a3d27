import type { ConfigValue } from '../config/config-value.ts';
import { scalarLeaves } from '../config/scalar-leaves.ts';
import { maxParam, maxTrackedName } from '../data/experiments/tracking-rules.ts';

/**
 * Return the first 500 scalars of a configuration as params. Names are paths, for example `a.b.c`; list items use
 * their index. Skip a leaf whose name or value is too long for a param. Stop at 500, even if YAML aliases expand
 * to more leaves.
 */
export function configParams(data: ConfigValue): Record<string, string> {
  const params = new Map<string, string>();
  let bytes = 0;
  for (const [name, scalar] of scalarLeaves(data)) {
    const value = scalar === null ? '' : String(scalar);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (params.size === maxParams || bytes > maxBytes) break;
    const isParam = name.trim() !== '' && name.length <= maxTrackedName && value.length <= maxParam;
    if (isParam) params.set(name, value);
  }
  return Object.fromEntries(params);
}

/** Return the paths of the single values of a configuration: of the first 10,000. */
export function scalarPaths(data: ConfigValue): string[] {
  const paths: string[] = [];
  for (const [path] of scalarLeaves(data)) if (paths.push(path) === maxPaths) break;
  return paths;
}

const maxPaths = 10_000;

/** Maximum params that a configuration adds to an experiment. */
const maxParams = 500;
/** Maximum bytes of all names and values. Aliases can repeat a long text many times in a small file. */
const maxBytes = 200_000;
