import type { Row } from '../runs/row.ts';
import type { Heavy } from './loaded-values.ts';

/** Loaded rows of a project, with the cursor of the rest. */
export interface KeptRows {
  rows: readonly Row[];
  /** Cursor of the next page; undefined if all rows are loaded. */
  next: string | undefined;
  isComplete: boolean;
  signIns: number;
  heavy: Heavy | undefined;
}

/**
 * Maximum number of projects whose rows stay in memory for the Back button. Ten thousand rows take about 10 MB.
 */
const maxProjects = 2;
const kept = new Map<string, KeptRows>();

export function keepRows(project_id: string, rows: KeptRows): void {
  kept.delete(project_id);
  kept.set(project_id, rows);
  const [oldest] = kept.keys();
  if (kept.size > maxProjects && oldest !== undefined) kept.delete(oldest);
}

/** Return kept rows of the same sign-in. Another sign-in may see fewer rows. */
export function keptRows(project_id: string, signIns: number): KeptRows | undefined {
  const found = kept.get(project_id);
  return found?.signIns === signIns ? found : undefined;
}

export const forgetRows = (project_id: string): void => void kept.delete(project_id);

/** Remove an experiment that this page has deleted. */
export function forgetRow(project_id: string, experiment_id: string): void {
  const found = kept.get(project_id);
  if (found === undefined) return;
  kept.set(project_id, { ...found, rows: found.rows.filter((row) => row.experiment_id !== experiment_id) });
}

/** Newest rows of a project after a reload. */
export interface Newest {
  rows: readonly Row[];
  /** Whether these are all rows of the project. */
  isAll: boolean;
}

/**
 * Merge reloaded newest rows into the rows. A row that is newer than the last reloaded one, but missing among
 * them, has been deleted.
 */
export function withNewest(rows: readonly Row[], { rows: fresh, isAll }: Newest): readonly Row[] {
  const byId = new Map(fresh.map((row) => [row.experiment_id, row]));
  const end = isAll ? '' : (fresh.at(-1)?.experiment_id ?? '');
  const left = rows.flatMap((row) => {
    const changed = byId.get(row.experiment_id);
    byId.delete(row.experiment_id);
    return changed ?? (row.experiment_id > end ? [] : row);
  });
  const added = [...byId.values()].sort((a, b) => (a.experiment_id < b.experiment_id ? 1 : -1));
  return [...added, ...left];
}

/** Put rows that came back into their places, newest first. */
export function withRestored(rows: readonly Row[], restored: readonly Row[]): readonly Row[] {
  const known = new Set(rows.map(({ experiment_id }) => experiment_id));
  const back = restored.filter(({ experiment_id }) => !known.has(experiment_id));
  return [...rows, ...back].sort((a, b) => (a.experiment_id < b.experiment_id ? 1 : -1));
}

/** Merge rows that were reloaded by ID. A requested row that is missing in the answer has been deleted. */
export function withAgain(
  rows: readonly Row[],
  asked: readonly string[],
  fresh: readonly Row[],
): readonly Row[] {
  const byId = new Map(fresh.map((row) => [row.experiment_id, row]));
  const ids = new Set(asked);
  return rows.flatMap((row) => byId.get(row.experiment_id) ?? (ids.has(row.experiment_id) ? [] : row));
}
