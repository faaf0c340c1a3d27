import type * as z from 'zod';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * The paths of all fields of a schema that hold no further fields: `variables.*.name` for those of a list, and `tags.*`
 * with `tags.#` for the values and names of a record.
 */
export function leavesOf(schema: z.core.$ZodType, path = ''): string[] {
  const below = (inner: unknown, part: string) =>
    leavesOf(inner as z.core.$ZodType, path === '' ? part : `${path}.${part}`);
  const def: unknown = schema._zod.def;
  if (!isObject(def)) return [path];
  if ('innerType' in def) return leavesOf(def.innerType as z.core.$ZodType, path);
  if ('shape' in def && isObject(def.shape))
    return Object.entries(def.shape).flatMap(([name, inner]) => below(inner, name));
  if ('element' in def) return below(def.element, '*');
  if ('valueType' in def && 'keyType' in def)
    return [...below(def.keyType, '#'), ...below(def.valueType, '*')];
  if ('options' in def && Array.isArray(def.options)) {
    const options = def.options.flatMap((one) => leavesOf(one as z.core.$ZodType, path));
    return [...new Set(options)];
  }
  return [path];
}
