import { type Repeat, repeatedValue } from './repeated-value.ts';
import type { Params, TrialResult, TrialStatus } from './types.ts';

/** A run as far as decisions know it. */
interface KnownRun {
  trial: number;
  repeat: number;
  params: string;
  tries: readonly KnownTry[];
}

interface KnownTry {
  begun: number;
  ended: number | null;
  outcome: Exclude<TrialStatus, 'running'> | null;
  value: string | null;
}

/**
 * Return the results that a decision saw: of the runs that earlier decisions began, by the ends that were taken in up to
 * it. A trial runs until all its repeats have ended.
 * @param decision number of the decision; default: all that is known now
 * @example
 * // Recompute the values of a trial that decision 12 began.
 * suggest(spec, trial, resultsAt(runs, spec.repeats, 12).filter((result) => result.trial < trial));
 */
export function resultsAt(
  runs: readonly KnownRun[],
  repeats: number,
  decision = Number.POSITIVE_INFINITY,
): TrialResult[] {
  const seen = runs.flatMap((run) => {
    const last = run.tries.findLast(({ begun }) => begun < decision);
    return last === undefined ? [] : [{ ...run, ...repeatAt(last, decision) }];
  });
  return [...Map.groupBy(seen, ({ trial }) => trial)]
    .map(([trial, some]): TrialResult => {
      const params: Params = JSON.parse(some[0]?.params ?? '{}');
      const isOpen = some.length < repeats || some.some(({ status }) => status === 'running');
      if (isOpen) return { trial, params, value: null, status: 'running' };
      return { trial, params, value: repeatedValue(some).value, status: statusOf(some) };
    })
    .toSorted((a, b) => a.trial - b.trial);
}

/** Return a try as it was known to a decision. */
export function repeatAt({ ended, outcome, value }: KnownTry, decision = Number.POSITIVE_INFINITY): Repeat {
  if (ended === null || ended > decision || outcome === null) return { status: 'running', value: null };
  return { status: outcome, value: value === null ? null : Number(value) };
}

/** Return the outcome of a trial: the best one of its repeats. */
export const statusOf = (repeats: readonly Pick<Repeat, 'status'>[]): TrialStatus =>
  order.find((status) => repeats.some((repeat) => repeat.status === status)) ?? 'cancelled';

const order = ['running', 'complete', 'stopped early', 'failed', 'cancelled'] as const;
