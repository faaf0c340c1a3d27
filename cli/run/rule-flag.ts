import { parse } from 'yaml';
import { checkedRule, parseRule, ruleForms } from '../../shared/run-rules/parse-rule.ts';
import { isSameCondition } from '../../shared/run-rules/rule-text.ts';
import type { RunRule } from '../../shared/run-rules/run-rule.ts';

/**
 * Return the parser of a flag that gives a rule, in its short form or as a line of `mps.yaml`.
 * @example
 * ruleFlag('stop')('loss > 10 for 3 evaluations');
 */
export const ruleFlag =
  (action: RunRule['do']) =>
  (text: string): RunRule =>
    text.includes('{') ? checkedRule({ ...mappingIn(text), do: action }) : parseRule(text, action);

function mappingIn(text: string): object {
  const value: unknown = parse(text);
  if (typeof value === 'object' && value !== null) return value;
  throw new Error(ruleForms);
}

/** Rules of the flags of a command. */
export interface RuleFlags {
  stopIf?: readonly RunRule[] | undefined;
  notifyIf?: readonly RunRule[] | undefined;
}

/**
 * Return the rules of a run as the query parameter takes them: those of flags, and of `mps.yaml` where no flag has the
 * same condition. Return nothing if there are none.
 */
export function rulesQuery(
  { stopIf: stopping = [], notifyIf: notifying = [] }: RuleFlags,
  ofFile: readonly RunRule[] = [],
): { rules?: string } {
  const given = [...stopping, ...notifying];
  const rules = [...given, ...ofFile.filter((rule) => !given.some((one) => isSameCondition(one, rule)))];
  return rules.length === 0 ? {} : { rules: JSON.stringify(rules) };
}
