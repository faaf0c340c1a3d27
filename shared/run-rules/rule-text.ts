import { durationOf } from './rule-span.ts';
import { metricOf, RunRule } from './run-rule.ts';

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

/** Parse the text of a rule: a form of {@link ruleText}. @throws Error with all faults, or with the forms that there are */
export function parseRule(text: string, action: RunRule['do']): RunRule {
  const given = conditionIn(text.trim());
  if (given === undefined) throw new Error(ruleForms);
  return checkedRule({ ...given, do: action });
}

/** Check a rule. @throws Error with all faults */
export function checkedRule(given: object): RunRule {
  const parsed = RunRule.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new Error(ruleFaults(parsed.error.issues));
}

/** Return the faults of rules in one text, such as `above.value must be a number; do must be notify or stop`. */
export const ruleFaults = (issues: readonly { path: readonly PropertyKey[]; message: string }[]): string =>
  issues.map(({ path, message }) => `${path.map(String).join('.')} ${message}`.trim()).join('; ');

/** The forms of a rule, for messages. */
export const ruleForms =
  'must be a rule: "nan: loss", "loss > 10 for 3 evaluations", "accuracy < 0.1 for 30m", "no improvement: val_loss for 10 evaluations", "silent: 30m" or "idle: gpu 5 % for 20m"';

function conditionIn(text: string): Record<string, unknown> | undefined {
  const [, kind = '', rest = ''] = /^(nan|silent|idle|no[ _-]improvement)(?: *: *| +)(.+)$/i.exec(text) ?? [];
  switch (kind.toLowerCase().replaceAll(/[_-]/g, ' ')) {
    case 'nan':
      return { nan: rest };
    case 'silent':
      return { silent: rest.replace(/^for +/i, '') };
    case 'idle': {
      const [, device = '', share, span] = /^(gpu|cpu) *<? *(\S+(?: *%)?) +for +(.+)$/i.exec(rest) ?? [];
      return span === undefined ? undefined : { idle: { [device.toLowerCase()]: share, for: span } };
    }
    case 'no improvement': {
      const [, metric, span, goal] =
        /^(?:of +)?(.+) +for +(.+?)(?: *\((maximize|minimize)\))?$/i.exec(rest) ?? [];
      if (metric === undefined) return undefined;
      return { 'no improvement': { metric, for: span, ...(goal && { goal: goal.toLowerCase() }) } };
    }
    default:
      return boundIn(text);
  }
}

/** `loss > 10 for 3 evaluations`; the number and the span are at the end, because names may contain any character. */
function boundIn(text: string): Record<string, unknown> | undefined {
  const [, metric, sign, value, span] = /^(.+?) *([<>]) *(\S+)(?: +for +(.+))?$/i.exec(text) ?? [];
  if (metric === undefined || value === undefined || Number.isNaN(Number(value))) return undefined;
  const bound = { metric, value: Number(value), ...(span !== undefined && { for: span }) };
  return sign === '>' ? { above: bound } : { below: bound };
}

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
