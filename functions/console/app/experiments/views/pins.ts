import { storedList } from './stored-list.ts';

/** Maximum number of pinned experiments of a project. The oldest pins go first. */
const maxPins = 200;

const stored = storedList('mps-pins', (value): value is string => typeof value === 'string');

/** Experiments that this browser keeps at the top of a project's table. */
export const pinsOf = (project_id: string): ReadonlySet<string> => new Set(stored.of(project_id).value);

/** Pin experiments, or unpin them if all are pinned. */
export function togglePins(project_id: string, ids: readonly string[]): void {
  const present = stored.of(project_id).value;
  const wanted = new Set(ids);
  const others = present.filter((id) => !wanted.has(id));
  const isUnpinning = ids.every((id) => present.includes(id));
  stored.set(project_id, isUnpinning ? others : [...others, ...ids].slice(-maxPins));
}
