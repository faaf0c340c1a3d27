import { numberText } from '../output/units.ts';
import type { Experiment } from './experiment.ts';

/** The last value of a metric and where the others lay. */
export function summaryText({ last, min, max, step, count }: Summary): string {
  const range = count > 1 ? `, ${valueText(min)} to ${valueText(max)}` : '';
  return `${valueText(last)}${stepText(step)}${range}`;
}

type Summary = Experiment['metrics'][string];

/** A value of a metric; JSON has no NaN and no infinity, which come as texts. */
const valueText = (value: number | string): string => (typeof value === 'number' ? numberText(value) : value);

const stepText = (step: number | null): string => (step === null ? '' : ` at step ${numberText(step)}`);

/** The best value under the name by which the run reported it, such as `val_accuracy 0.97 at step 4`. */
export const bestText = ({ metric, value, step }: NonNullable<Experiment['best']>): string =>
  `${metric} ${numberText(value)}${stepText(step)}`;

/** The last value of a metric, empty where the run has not reported it. */
export const lastText = ({ metrics }: Experiment, name: string): string => {
  const summary = Object.hasOwn(metrics, name) ? metrics[name] : undefined;
  return summary === undefined ? '' : valueText(summary.last);
};
