import type { JudgedBy } from '../../../../shared/metrics/criteria.ts';
import { metricRank } from '../../../../shared/metrics/metric-aliases.ts';
import { type MeasuredOn, readMetricName } from '../../../../shared/metrics/metric-name.ts';

/**
 * Sort metrics for display: the criterion's first, then validation, test and training metrics. Counters and learning
 * rates come last.
 */
export const inOrder = (names: readonly string[], judge?: JudgedBy): string[] =>
  names
    .map((name) => ({ name, place: placeOf(name, judge) }))
    .sort((a, b) => a.place - b.place)
    .map(({ name }) => name);

function placeOf(name: string, judge: JudgedBy | undefined): number {
  const rank = judge === undefined ? undefined : metricRank(name, judge.name);
  if (rank !== undefined) return -1 / (1 + rank);
  const { on, metric, ofStep } = readMetricName(name);
  return counters.test(metric) ? 4 : places.indexOf(on) + (ofStep ? 0.5 : 0);
}

/** Return whether a metric stands for the criterion. */
export const isCriterion = (name: string, judge: JudgedBy | undefined): boolean =>
  judge !== undefined && metricRank(name, judge.name) !== undefined;

/** Return whether a metric only tells how far a program is, or sets its speed. It is no result. */
export const isCounter = (name: string): boolean => counters.test(readMetricName(name).metric);

const places: readonly MeasuredOn[] = ['validation', 'test', null, 'training'];

/** Progress and speed that programs log, such as Hugging Face's `eval_samples_per_second`. They are no results. */
const counters =
  /^(?:epoch|step|globalstep|lr|learningrate|runtime|throughput|[a-z]*per(?:sec|second)|(?:total)?flos|gradnorm)$/;
