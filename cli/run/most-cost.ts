import { dollarsText } from '../output/units.ts';

/**
 * Return what a training may cost at most, for the line that says it was submitted: its budget ends it before its
 * timeout does, if that is less.
 */
export function mostCost(estimate: number | null, budget: number | undefined): string {
  if (estimate === null) return '';
  if (budget !== undefined && budget < estimate)
    return `, at most ${dollarsText(budget)} by its budget (${dollarsText(estimate)} up to its timeout)`;
  return `, at most ${dollarsText(estimate)}${budget === undefined ? '' : ', less than its budget'}`;
}
