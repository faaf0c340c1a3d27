import { conditionOf, type RuleCondition } from '../../../../shared/run-rules/rule-condition.ts';
import type { RunRule } from '../../../../shared/run-rules/run-rule.ts';

/** A rule as it is typed: the fields of all conditions, so that another condition keeps what was typed. */
export interface RuleDraft {
  condition: RuleCondition;
  metric: string;
  value: string;
  span: string;
  /** Blank for the usual goal of the metric's name. */
  goal: '' | 'maximize' | 'minimize';
  device: 'gpu' | 'cpu';
  share: string;
  action: RunRule['do'];
}

/** Return the draft of a rule, or a new one. */
export function ruleDraft(rule?: RunRule): RuleDraft {
  const { nan, above, below, 'no improvement': stalled, silent, idle, do: action = 'stop' } = rule ?? {};
  const bound = above ?? below;
  return {
    condition: rule === undefined ? 'nan' : conditionOf(rule),
    metric: nan ?? bound?.metric ?? stalled?.metric ?? '',
    value: bound === undefined ? '' : String(bound.value),
    span: bound?.for ?? stalled?.for ?? silent ?? idle?.for ?? '',
    goal: stalled?.goal ?? '',
    device: idle?.cpu === undefined ? 'gpu' : 'cpu',
    share: String(idle?.gpu ?? idle?.cpu ?? ''),
    action,
  };
}

/** Return the rule of a draft as it was typed. The service checks it, so that its faults are told in one place. */
export function draftedRule(draft: RuleDraft): RunRule {
  const { condition, metric, value, span, goal, device, share, action } = draft;
  const bound = { metric, value: numberIn(value), ...(span.trim() !== '' && { for: span }) };
  const parts: Readonly<Record<RuleCondition, unknown>> = {
    nan: metric,
    above: bound,
    below: bound,
    'no improvement': { metric, for: span, ...(goal !== '' && { goal }) },
    silent: span,
    idle: { [device]: share, for: span },
  };
  return { [condition]: parts[condition], do: action } as unknown as RunRule;
}

const numberIn = (text: string): number | string =>
  text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);

const fields: Readonly<Record<string, keyof RuleDraft>> = {
  nan: 'metric',
  metric: 'metric',
  value: 'value',
  for: 'span',
  silent: 'span',
  goal: 'goal',
  gpu: 'share',
  cpu: 'share',
  do: 'action',
};

/** Return the field that a fault of the service is about, such as `value` for `rules.2.above.value`. */
export function faultyField(name: string, index: number): keyof RuleDraft | undefined {
  const [list, position, ...path] = name.split('.');
  if (list !== 'rules' || position !== String(index)) return undefined;
  return fields[path.at(-1) ?? ''];
}
