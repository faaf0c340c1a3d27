import type { Row } from './row.ts';

/** Rows of a project as they were read, and where its list goes on. */
export interface KeptRows {
  rows: readonly Row[];
  /** Cursor of the next page; undefined where all rows are there. */
  next: string | undefined;
  isComplete: boolean;
  signIns: number;
  /** The criterion by which their best values were found. */
  rankedBy: string;
}

/** Projects whose rows are kept: what Back leads to. Ten thousand rows take about 10 MB. */
const maxProjects = 2;
const kept = new Map<string, KeptRows>();

export function keepRows(project_id: string, rows: KeptRows): void {
  kept.delete(project_id);
  kept.set(project_id, rows);
  const [oldest] = kept.keys();
  if (kept.size > maxProjects && oldest !== undefined) kept.delete(oldest);
}

/** The rows that were read before, by the same sign-in and criterion: another sign-in may see less. */
export function keptRows(project_id: string, signIns: number, rankedBy: string): KeptRows | undefined {
  const found = kept.get(project_id);
  return found?.signIns === signIns && found.rankedBy === rankedBy ? found : undefined;
}

export const forgetRows = (project_id: string): void => void kept.delete(project_id);

/** Leave out an experiment that this page has deleted. */
export function forgetRow(project_id: string, experiment_id: string): void {
  const found = kept.get(project_id);
  if (found === undefined) return;
  kept.set(project_id, { ...found, rows: found.rows.filter((row) => row.experiment_id !== experiment_id) });
}

/** The newest rows of a project as they were read again. */
export interface Newest {
  rows: readonly Row[];
  /** Whether the project has no others. */
  isAll: boolean;
}

/**
 * Rows with those that were read again in their places. What is newer than the last of the newest ones and not among them
 * has been deleted.
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

/** Rows with some that were read again by their ids; those that are not among the answer have been deleted. */
export function withAgain(
  rows: readonly Row[],
  asked: readonly string[],
  fresh: readonly Row[],
): readonly Row[] {
  const byId = new Map(fresh.map((row) => [row.experiment_id, row]));
  const ids = new Set(asked);
  return rows.flatMap((row) => byId.get(row.experiment_id) ?? (ids.has(row.experiment_id) ? [] : row));
}
