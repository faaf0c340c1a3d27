import { hasEnded } from '../data/sweeps/has-ended.ts';
import type { SweepStatus } from '../data/sweeps/sweep.ts';
import { repeatedValue } from './repeated-value.ts';
import type { Params } from './types.ts';

/** A run of a sweep, as the service lists it. */
interface TrialRow {
  trial: number;
  params: Params;
  outcome: (typeof ends)[number] | null;
  status_reason: string | null;
  value: number | null;
  duration: number | null;
  cost: number | null;
}

/** A trial: its repeats as one. */
export interface FoldedTrial<R extends TrialRow = TrialRow> {
  trial: number;
  params: R['params'];
  /** Mean of its repeats. Null while one runs, and without a finite value. */
  value: number | null;
  deviation: number | null;
  /** `running` while a repeat runs, else the worst end of its repeats. */
  outcome: (typeof ends)[number] | 'running';
  reason: string | null;
  seconds: number;
  cost: number | null;
  /** Its repeats that were begun. */
  rows: readonly R[];
}

/** What a trial's end depends on: a sweep that has ended begins no missing repeat. */
interface Folded {
  repeats: number;
  status: SweepStatus;
}

/** Group rows, which come in the order of their runs, by trial. */
export function foldTrials<R extends TrialRow>(rows: Iterable<R>, sweep: Folded): FoldedTrial<R>[] {
  const trials = new Map<number, [R, ...R[]]>();
  for (const row of rows) {
    const known = trials.get(row.trial);
    if (known === undefined) trials.set(row.trial, [row]);
    else known.push(row);
  }
  return [...trials.values()].map((some) => foldTrial(some, sweep));
}

/** Fold the rows of a trial into one. */
function foldTrial<R extends TrialRow>(
  rows: readonly [R, ...R[]],
  { repeats, status }: Folded,
): FoldedTrial<R> {
  const [{ trial, params }] = rows;
  const isWhole = rows.length >= repeats;
  const isOpen = rows.some(({ outcome }) => outcome === null) || (!isWhole && !hasEnded({ status }));
  const ended = rows.map(({ outcome, value }) => ({ status: outcome ?? 'running', value }) as const);
  const costs = rows.flatMap(({ cost }) => cost ?? []);
  const worst = ends.find((end) => rows.some(({ outcome }) => outcome === end));
  return {
    trial,
    params,
    ...(isOpen || !isWhole ? { value: null, deviation: null } : repeatedValue(ended)),
    outcome: isOpen ? 'running' : isWhole || worst === 'failed' ? (worst ?? 'complete') : 'cancelled',
    reason: rows.find(({ outcome }) => outcome === worst)?.status_reason ?? null,
    seconds: rows.reduce((sum, { duration }) => sum + (duration ?? 0), 0),
    cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    rows,
  };
}

/** Ends of repeats, the worst first. */
const ends = ['failed', 'cancelled', 'stopped early', 'complete'] as const;
