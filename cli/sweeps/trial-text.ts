import type { endpoint as listTrials } from '../../functions/projects/sweeps/list-trials.endpoint.ts';
import type { RowOf } from '../../shared/client/route.ts';
import type { FoldedTrial } from '../../shared/sweeps/fold-trials.ts';
import { reachedText } from '../experiments/metric-text.ts';
import { dollarsText, numberText, secondsText } from '../output/units.ts';
import type { Sweep } from './begin-sweep.ts';

export type TrialRow = RowOf<typeof listTrials>;

/** Return one line for a trial that has ended. */
export function trialText(
  { trial, params, value, deviation, outcome, reason, seconds, cost, rows }: FoldedTrial<TrialRow>,
  metric: string,
): string {
  const parts = [
    `#${trial}`.padEnd(5),
    value === null ? `no ${metric}` : `${metric} ${valueAtBest({ value, deviation, ...reachedBy(rows) })}`,
    paramsText(params),
    `(${[secondsText(seconds), ...(cost === null ? [] : [dollarsText(cost)])].join(', ')})`,
    ...endText(outcome, reason),
  ];
  return parts.join('  ');
}

/** Return how a trial ended, if not as it should. The reason of an early stop says so itself. */
function endText(outcome: string, reason: string | null): string[] {
  if (outcome === 'complete') return [];
  const [line] = reason?.split('\n') ?? [];
  if (line === undefined) return [outcome];
  return [outcome === 'stopped early' ? line : `${outcome}: ${line}`];
}

/** Return a mean with its standard deviation, as `0.41 ± 0.02`. */
export const valueText = (value: number, deviation: number | null): string =>
  `${numberText(value)}${deviation === null ? '' : ` ± ${numberText(Number(deviation.toPrecision(2)))}`}`;

/** Return the value of a trial with its step and the value that the trial ended with. */
export const valueAtBest = ({ value, deviation, step, last }: Reached): string =>
  reachedText(valueText(value, deviation), { step, last: last === null ? null : numberText(last) });

type Reached = Pick<NonNullable<Sweep['best']>, 'value' | 'deviation' | 'step' | 'last'>;

/** Return where a trial of one run had its value, and what it ended with. The mean of repeats has neither. */
export const reachedBy = ([row, ...more]: readonly TrialRow[]): Pick<TrialRow, 'step' | 'last'> =>
  row === undefined || more.length > 0 ? { step: null, last: null } : { step: row.step, last: row.last };

/** Return the values of a trial in one line. */
export const paramsText = (params: TrialRow['params']): string =>
  Object.entries(params)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? numberText(value) : value}`)
    .join('  ');

/** Return how far a sweep is, in one line. */
export function progressText({
  status,
  counts,
  trials,
  repeats,
  best,
  metric,
  spent,
  budget,
}: Sweep): string {
  const { complete, stopped_early, failed, cancelled, running, left } = counts;
  const ended = complete + stopped_early + failed + cancelled;
  const unit = repeats > 1 ? 'trainings' : 'trials';
  return [
    status,
    `${ended} of ${trials * repeats} ${unit}`,
    ...(running > 0 ? [`${running} running`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(stopped_early > 0 ? [`${stopped_early} stopped early`] : []),
    ...(left > 0 ? [`${left} left`] : []),
    ...(best === null ? [] : [`best #${best.trial} ${metric} ${valueAtBest(best)}`]),
    ...(spent === null
      ? []
      : [`${dollarsText(spent)}${budget === null ? '' : ` of ${dollarsText(budget)}`}`]),
  ].join('  ');
}
