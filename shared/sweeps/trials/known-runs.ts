import type { Sweep } from '../../data/sweeps/sweep.ts';
import { allRuns, findRuns, lastTry, type SweepRun } from '../../data/sweeps/sweep-run.ts';
import type { TableReader } from '../../data/table/table.ts';

/**
 * Return all runs of a sweep, by number. A run that is complete or was stopped early never changes, so this process reads
 * it once: each decision of TPE sees all runs, and reading 1,000 takes tens of milliseconds.
 */
export async function knownRuns(records: TableReader<'records'>, sweep: Sweep): Promise<SweepRun[]> {
  const known = takeOut(sweep.sweep_id);
  const missing = Array.from({ length: sweep.begun }, (_, run) => run).filter((run) => !known.has(run));
  const read =
    missing.length > maxKeys
      ? await allRuns(records, sweep)
      : (await findRuns(records, sweep, missing)).filter((row) => row !== undefined);
  const rows = new Map([...known, ...read.map((row): [number, SweepRun] => [row.run, row])]);
  keep(
    sweep.sweep_id,
    [...rows].filter(([, row]) => isSettled(row)),
  );
  return [...rows.values()].sort((a, b) => a.run - b.run);
}

/** Keys of one read. More are read page by page. */
const maxKeys = 100;

const isSettled = (row: SweepRun): boolean => {
  const { outcome } = lastTry(row);
  return outcome === 'complete' || outcome === 'stopped early';
};

/** Settled runs by sweep, the least recently read sweep first. */
const settled = new Map<string, ReadonlyMap<number, SweepRun>>();

/** Most runs that stay in memory, each about a KB. */
const maxRows = 20_000;

function takeOut(sweep_id: string): ReadonlyMap<number, SweepRun> {
  const known = settled.get(sweep_id) ?? new Map<number, SweepRun>();
  settled.delete(sweep_id);
  return known;
}

function keep(sweep_id: string, rows: readonly [number, SweepRun][]): void {
  settled.set(sweep_id, new Map(rows));
  let count = [...settled.values()].reduce((sum, { size }) => sum + size, 0);
  for (const [oldest, { size }] of settled) {
    if (count <= maxRows) return;
    settled.delete(oldest);
    count -= size;
  }
}
