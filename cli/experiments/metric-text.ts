import { numberText } from '../output/units.ts';
import type { Experiment } from './experiment.ts';

/** Return the last value of a metric and the range of all values. */
export function summaryText({ last, min, max, step, count }: Summary): string {
  const range = count > 1 ? `, ${valueText(min)} to ${valueText(max)}` : '';
  return `${valueText(last)}${stepText(step)}${range}`;
}

type Summary = Experiment['metrics'][string];

/** Format a metric's value. NaN and infinities arrive as strings, because JSON does not have them. */
const valueText = (value: number | string): string => (typeof value === 'number' ? numberText(value) : value);

const stepText = (step: number | null): string => (step === null ? '' : ` at step ${numberText(step)}`);

/** Return the best value with the metric's reported name, such as `val_accuracy 0.97 at step 4, 0.95 at the end`. */
export function bestText({ best, metrics, stopped_at }: Ranked): string {
  if (best === null) return '';
  const { metric, value, step } = best;
  const last = Object.hasOwn(metrics, metric) ? metrics[metric]?.last : undefined;
  const text = reachedText(numberText(value), { step, last: last === undefined ? null : valueText(last) });
  return `${metric} ${stopped_at === null ? text.replace(/ at the end$/, ' now') : text}`;
}

type Ranked = Pick<Experiment, 'best' | 'metrics' | 'stopped_at'>;

/**
 * Return a best value with its step and, if it is another, the last value: `0.00094 at step 21, 0.0189 at the end`. The
 * model that a program saves at its end has the last one.
 */
export function reachedText(
  value: string,
  { step, last }: { step: number | null; last: string | null },
): string {
  return `${value}${stepText(step)}${last === null || last === value ? '' : `, ${last} at the end`}`;
}

/** Return the last value of a metric; empty if the run has not reported it. */
export const lastText = ({ metrics }: Experiment, name: string): string => {
  const summary = Object.hasOwn(metrics, name) ? metrics[name] : undefined;
  return summary === undefined ? '' : valueText(summary.last);
};
