import type { Experiment } from '../experiments/experiment.ts';
import { dollarsText } from '../output/units.ts';

/**
 * Return what a training may cost at most, for the line that says it was submitted: its budget ends it before its
 * timeout does, if that is less. One that may stay on Spot costs less.
 */
export function mostCost(
  { cost_estimate: estimate, spot }: Pick<Experiment, 'cost_estimate' | 'spot'>,
  budget: number | undefined,
): string {
  if (estimate === null) return '';
  const onSpot = spot?.estimate ?? estimate;
  const less = onSpot < estimate ? `, ${dollarsText(onSpot)} if it stays on Spot` : '';
  if (budget !== undefined && budget < estimate)
    return `, at most ${dollarsText(budget)} by its budget (${dollarsText(estimate)} up to its timeout${less})`;
  return `, at most ${dollarsText(estimate)}${less}${budget === undefined ? '' : ', less than its budget'}`;
}
