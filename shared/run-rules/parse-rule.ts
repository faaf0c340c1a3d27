import { RunRule } from './run-rule.ts';

/** Parse the text of a rule: a form that `ruleText` returns. @throws Error with all faults, or with the forms that there are */
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
