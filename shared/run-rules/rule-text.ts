import { durationOf } from './rule-span.ts';
import type { RunRule } from './run-rule.ts';

type Condition = Omit<RunRule, 'do'>;

/**
 * Return a rule's condition as people write it.
 * @example
 * ruleText({ above: { metric: 'loss', value: 10, for: '3 evaluations' }, do: 'stop' }); // loss > 10 for 3 evaluations
 */
export function ruleText(rule: Condition): string {
  if (rule.nan !== undefined) return `nan: ${rule.nan}`;
  if (rule.silent !== undefined) return `silent: ${rule.silent}`;
  if (rule.idle !== undefined) {
    const { gpu, cpu, for: span } = rule.idle;
    return `idle: ${gpu === undefined ? `cpu ${percentText(cpu)}` : `gpu ${percentText(gpu)}`} for ${span}`;
  }
  const { above, below, 'no improvement': stalled } = rule;
  if (stalled !== undefined) {
    const { metric, for: span, goal } = stalled;
    return `no improvement: ${metric} for ${span}${goal === undefined ? '' : ` (${goal})`}`;
  }
  const [sign, bound] = above === undefined ? (['<', below] as const) : (['>', above] as const);
  if (bound === undefined) return '';
  return `${bound.metric} ${sign} ${bound.value}${bound.for === undefined ? '' : ` for ${bound.for}`}`;
}

const percentText = (value: string | number | undefined): string =>
  `${String(value ?? '').replace(/ *%$/, '')} %`;

/** Whether two rules have the same condition. Then only one of them is judged. */
export const isSameCondition = (one: RunRule, other: RunRule): boolean => keyOf(one) === keyOf(other);

/** The same for `30m` and `30 min`. */
const keyOf = (rule: RunRule): string =>
  rule.silent === undefined ? ruleText(rule).replaceAll(/\s+/g, '') : `silent ${durationOf(rule.silent)}`;

/** Return the sentence for people that a rule was met. It becomes the reason of a run that it stops. */
export const metReason = (rule: RunRule, reason: string): string =>
  `${rule.do === 'stop' ? 'Stopped by the rule' : 'The rule is met:'} "${ruleText(rule)}"${rule.do === 'stop' ? ':' : '.'} ${reason}`;

/**
 * Return the sentence about a rule that could not be judged in a whole run. Return none for `silent`, which can always.
 * @param near returns a similar name that the run has reported
 */
export function unjudgedText(rule: RunRule, near: (metric: string) => string | undefined): string[] {
  if (rule.silent !== undefined) return [];
  const metric = metricOf(rule);
  const never = `The rule "${ruleText(rule)}" was never judged, because`;
  if (metric === undefined) {
    const device = rule.idle?.gpu === undefined ? 'the vCPUs' : 'a GPU';
    return [`${never} nothing measured the use of ${device}.`];
  }
  const similar = near(metric);
  const hint = similar === undefined ? '' : ` Did you mean ${similar}?`;
  return [`${never} the run reported no metric ${metric}.${hint}`];
}

/** Return the metric that a rule reads. Return undefined for one that reads none of the program's. */
export const metricOf = (rule: RunRule): string | undefined =>
  rule.nan ?? rule.above?.metric ?? rule.below?.metric ?? rule['no improvement']?.metric;
