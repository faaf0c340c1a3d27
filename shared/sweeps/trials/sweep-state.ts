import { originOf, type TokenOrigin } from '../../data/accounts/ci-run.ts';
import { hasEnded } from '../../data/sweeps/has-ended.ts';
import type { Sweep } from '../../data/sweeps/sweep.ts';
import type { RunOutcome } from '../../data/sweeps/sweep-run.ts';
import { roundedDollars } from '../../jobs/cost.ts';
import type { SweepSpec } from '../spec.ts';
import type { Params } from '../types.ts';

/** How a run has ended. */
export interface EndedRun {
  run: number;
  outcome: RunOutcome;
  status_reason: string | null;
  /** Names that the run reported, if none of them is the metric of the sweep. Null if one is. */
  otherNames: readonly string[] | null;
  /** US dollars. */
  cost: number;
  /** Null if it never started. */
  seconds: number | null;
  /** Failures of this run so far, with this one. */
  failures: number;
  /** Whether the user who began the sweep was deleted. */
  isOrphan: boolean;
}

/** A trial whose repeats have all ended. */
export interface JudgedTrial {
  trial: number;
  params: Params;
  value: number | null;
  deviation: number | null;
  /** Step of the value. Null for repeats, whose mean has none. */
  step: number | null;
  /** Value that the trial ended with. Null for repeats, and if it was not finite. */
  last: number | null;
}

/** What the next state depends on besides the sweep itself. */
export type SweepRules = Pick<SweepSpec, 'repeats' | 'retries' | 'until'>;

/**
 * Return the state of a sweep after some of its runs have ended. The same arguments give the same state.
 * @param judged trials that these ends have completed
 */
export function settle(
  sweep: Sweep,
  rules: SweepRules,
  ended: readonly EndedRun[],
  judged: readonly JudgedTrial[],
): Sweep {
  let next: Sweep = {
    ...sweep,
    running: sweep.running.filter(({ run }) => !ended.some((one) => one.run === run)),
  };
  for (const one of ended) next = withEnd(next, rules, one);
  for (const one of judged) next = withTrial(next, rules, one);
  return concluded(next, rules);
}

function withEnd(sweep: Sweep, { retries }: SweepRules, end: EndedRun): Sweep {
  const { run, outcome, cost, failures, isOrphan } = end;
  const { complete } = sweep.counts;
  const isMeasured = outcome === 'complete' && end.seconds !== null;
  const isTriedAgain = outcome === 'failed' && failures <= retries && !hasEnded(sweep);
  const counted = outcome === 'stopped early' ? 'stopped_early' : outcome;
  const next: Sweep = {
    ...sweep,
    spent: roundedDollars(sweep.spent + cost),
    // The mean of its own runs tells more than earlier ones of other settings.
    ...(isMeasured && { run_seconds: mean(sweep.run_seconds ?? 0, complete, end.seconds ?? 0) }),
    ...(isTriedAgain
      ? { again: [...sweep.again, run] }
      : { counts: { ...sweep.counts, [counted]: sweep.counts[counted] + 1 } }),
  };
  if (isOrphan && !hasEnded(sweep))
    return { ...next, status: 'CANCELLED', status_reason: 'Its user was deleted.' };
  return outcome === 'cancelled' ? next : withFirst(next, end);
}

/** Mean of `count` values and one more, in milliseconds at most. */
const mean = (before: number, count: number, value: number): number =>
  Math.round(((before * count + value) / (count + 1)) * 1000) / 1000;

/** Note how one of the first runs ended, and pause the sweep if the first three show that it makes no sense. */
function withFirst(sweep: Sweep, { outcome, status_reason, otherNames }: EndedRun): Sweep {
  if (sweep.first.length >= firstRuns) return sweep;
  const isFailed = outcome === 'failed';
  const names = isFailed || otherNames === null ? null : otherNames.slice(0, maxNames).map(shortened);
  const first = [...sweep.first, { reason: isFailed ? (status_reason ?? 'no reason') : null, names }];
  const next = { ...sweep, first };
  if (sweep.status !== 'RUNNING' || first.length < firstRuns) return next;
  const reason = reasonToPause(next);
  return reason === undefined ? next : { ...next, status: 'PAUSED', status_reason: reason };
}

/** Ends of runs that tell whether a sweep makes sense. */
const firstRuns = 3;
const maxNames = 20;
const shortened = (name: string): string => name.slice(0, 64);

function reasonToPause({ first, criterion }: Sweep): string | undefined {
  const [one] = first;
  if (one === undefined) return undefined;
  if (one.reason !== null && first.every(({ reason }) => reason === one.reason))
    return `The first three runs failed for the same reason: ${one.reason}`;
  if (!first.every(({ names }) => names !== null)) return undefined;
  const names = [...new Set(first.flatMap((each) => each.names ?? []))].slice(0, maxNames);
  const there = names.length === 0 ? 'They reported no metric.' : `They reported ${names.join(', ')}.`;
  return `None of the first three runs reported ${criterion.name}. ${there} Let the program report it, or begin a sweep with another metric.`;
}

/** Take in the value of a trial: it may be the best one, or good enough. */
function withTrial(sweep: Sweep, { until }: SweepRules, judged: JudgedTrial): Sweep {
  const { value } = judged;
  if (value === null) return sweep;
  const isMaximized = sweep.criterion.goal === 'maximize';
  const reaches = (bound: number) => (isMaximized ? value >= bound : value <= bound);
  const before: { value: number; trial: number } | null = sweep.best === null ? null : JSON.parse(sweep.best);
  const isBetter =
    before === null ||
    (value === before.value ? judged.trial < before.trial : isMaximized === value > before.value);
  const next = isBetter ? { ...sweep, best: JSON.stringify(judged) } : sweep;
  if (until === undefined || hasEnded(sweep) || !reaches(until.metric)) return next;
  const reason = `Trial ${judged.trial} reached ${sweep.criterion.name} ${value}, which is good enough.`;
  return { ...next, status: 'COMPLETED', status_reason: reason };
}

/** End a sweep that has no further run. */
function concluded(sweep: Sweep, rules: SweepRules): Sweep {
  const { running, again, begun, counts } = sweep;
  if (hasEnded(sweep) || running.length + again.length > 0 || begun < sweep.trials * rules.repeats)
    return sweep;
  // The reason of a pause that came with the last runs tells what to change.
  const status_reason = sweep.best === null ? sweep.status_reason : null;
  return counts.complete + counts.stopped_early === 0 && counts.failed > 0
    ? { ...sweep, status: 'FAILED', status_reason: status_reason ?? 'No run succeeded.' }
    : { ...sweep, status: 'COMPLETED', status_reason };
}

/** Return the number of the next run to begin, and whether it is a new one. Return undefined if none may begin. */
export function nextRun(
  sweep: Pick<Sweep, 'status' | 'running' | 'again' | 'begun' | 'trials'>,
  { repeats, parallel, method }: Pick<SweepSpec, 'repeats' | 'parallel' | 'method'>,
): { run: number; isNew: boolean } | undefined {
  const { status, running, again, begun, trials } = sweep;
  if (status !== 'RUNNING' || running.length >= parallel) return undefined;
  const [first] = again;
  if (first !== undefined) return { run: first, isNew: false };
  // A client asks for each trial. Its other repeats follow by themselves.
  if (method === 'external' && begun % repeats === 0) return undefined;
  return begun < trials * repeats ? { run: begun, isNew: true } : undefined;
}

/** Return the state after a run was begun. */
export function withBegun(
  sweep: Sweep,
  { run, isNew }: { run: number; isNew: boolean },
  experiment_id: string,
): Sweep {
  return {
    ...sweep,
    ...(isNew ? { begun: run + 1 } : { again: sweep.again.filter((one) => one !== run) }),
    running: [...sweep.running, { run, experiment_id }],
  };
}

/** Return why the budget leaves no room for another run. Return undefined if it does. */
export function budgetReached(
  { spent, running, run_cost, begun }: Pick<Sweep, 'spent' | 'running' | 'run_cost' | 'begun'>,
  budget: number | undefined,
): string | undefined {
  if (budget === undefined || run_cost === null) return undefined;
  const reserved = roundedDollars(running.length * run_cost);
  // Each run has a rounded price: a budget of what the estimate says would lack some millionths for the last one.
  const rounding = (begun + 1) * 1e-6;
  if (spent + reserved + run_cost <= budget + rounding) return undefined;
  const left = roundedDollars(Math.max(0, budget - spent - reserved));
  return `Of its budget of US$ ${budget}, US$ ${left} is left, and one more run may cost US$ ${run_cost}. Raise the budget and resume it.`;
}

/** Who lets a sweep go on. */
export type Payer = TokenOrigin;

/** Charge what a sweep begins from now on to the token of the caller, if that has a budget, and to no other token. */
export function chargedTo({ charged_token: _, ci: __, ...sweep }: Sweep, payer: Payer): Sweep {
  return { ...sweep, ...originOf(payer) };
}
