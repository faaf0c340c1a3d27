import { type ConfigValue, isMapping } from './config-value.ts';

/** Return whether a path such as `optimizer.lr` or `layers.0.units` leads to a single value. */
export function hasScalar(data: ConfigValue, path: string): boolean {
  let at: ConfigValue | undefined = data;
  for (const key of path.split('.')) {
    if (Array.isArray(at)) at = at[Number(key)];
    else if (at !== undefined && isMapping(at) && Object.hasOwn(at, key)) at = at[key];
    else return false;
  }
  return at !== undefined && !Array.isArray(at) && !isMapping(at);
}
