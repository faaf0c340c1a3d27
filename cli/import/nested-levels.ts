import type { SourceRun } from './source.ts';

/**
 * Sort runs by how deep they are nested, so that parents come before their children. Within a level the oldest run is first.
 * @param runs with ids of their own
 * @param parentOf the id of a run's parent. Records of others may have any number of generations, and circles.
 */
export function nestedLevels(
  runs: readonly SourceRun[],
  parentOf: (run: SourceRun) => string | undefined,
): SourceRun[][] {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const depths = new Map<string, number>();
  for (const run of runs) {
    const above = new Map<string, SourceRun>();
    let at: SourceRun | undefined = run;
    while (at !== undefined && !depths.has(at.id) && !above.has(at.id)) {
      above.set(at.id, at);
      at = byId.get(parentOf(at) ?? '');
    }
    let depth = (at && depths.get(at.id)) ?? -1;
    for (const id of [...above.keys()].reverse()) {
      depth += 1;
      depths.set(id, depth);
    }
  }
  const levels: SourceRun[][] = [];
  for (const run of runs.toSorted((a, b) => (a.start ?? 0) - (b.start ?? 0))) {
    const depth = depths.get(run.id) ?? 0;
    levels[depth] ??= [];
    levels[depth].push(run);
  }
  return levels;
}
