type Value = string | number | null;

/**
 * Values by name. `differ` holds one value for each experiment, null if it has none; `equal` holds the common
 * value.
 */
interface Compared<V extends Value> {
  differ: Record<string, (V | null)[]>;
  equal: Record<string, V | null>;
}

/** Split named values into those that differ and those that are equal. */
export function compareValues<V extends Value>(all: readonly ReadonlyMap<string, V>[]): Compared<V> {
  const rows = Object.entries(valuesByName(all));
  const differ = rows.filter(([, values]) => differs(values));
  const equal = rows
    .filter(([, values]) => !differs(values))
    .map(([name, [first = null]]): [string, V | null] => [name, first]);
  return { differ: Object.fromEntries(differ), equal: Object.fromEntries(equal) };
}

/** Return the values by name, in the order of the names: one for each experiment, null if it has none. */
export function valuesByName<V extends Value>(
  all: readonly ReadonlyMap<string, V>[],
): Record<string, (V | null)[]> {
  const names = [...new Set(all.flatMap((values) => [...values.keys()]))].sort();
  return Object.fromEntries(names.map((name) => [name, all.map((one) => one.get(name) ?? null)]));
}

/** Whether the values of a name differ between the experiments. */
export const differs = ([first, ...others]: readonly Value[]): boolean =>
  others.some((value) => !Object.is(value, first));
