import type { Inventory } from '../../../support/inventory.ts';

/** How often the reconciler has come by says nothing of whose job it is. */
const countOfVisits = 'looked_at';

/** The same text for the same value: the order in which an engine answers attributes means nothing. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .filter(([name]) => name !== countOfVisits)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, canonical(member)]);
}

const lines = new WeakMap<object, string>();

/** As a line; what is asked for again, such as the objects that all lives begin with, is written once. */
function lineOf(one: object): string {
  const known = lines.get(one);
  if (known !== undefined) return known;
  const line = JSON.stringify(canonical(one));
  lines.set(one, line);
  return line;
}

/** Everything that is stored in which one of these names appears, a line for each. */
export function shareOf({ records, objects }: Inventory, names: readonly string[]): string[] {
  const all = [...records, ...objects].map(lineOf);
  return all.filter((line) => names.some((name) => line.includes(name))).sort();
}
