import type { Inventory } from '../../../infra/doctor/inventory.ts';

/** The same text for the same value: the order in which an engine answers attributes means nothing. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, canonical(member)]);
}

/** Everything that is stored in which one of these names appears, a line for each. */
export function shareOf({ records, objects }: Inventory, names: readonly string[]): string[] {
  const lines = [...records, ...objects].map((one) => JSON.stringify(canonical(one)));
  return lines.filter((line) => names.some((name) => line.includes(name))).sort();
}
