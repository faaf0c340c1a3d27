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

/** Return the best value with the metric's reported name, such as `val_accuracy 0.97 at step 4`. */
export const bestText = ({ metric, value, step }: NonNullable<Experiment['best']>): string =>
  `${metric} ${numberText(value)}${stepText(step)}`;

/** Return the last value of a metric; empty if the run has not reported it. */
export const lastText = ({ metrics }: Experiment, name: string): string => {
  const summary = Object.hasOwn(metrics, name) ? metrics[name] : undefined;
  return summary === undefined ? '' : valueText(summary.last);
};
