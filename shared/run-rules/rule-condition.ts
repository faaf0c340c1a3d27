/** What a rule may wait for. Each is a key of the rule, beside `do`. */
export const ruleConditions = ['nan', 'above', 'below', 'no improvement', 'silent', 'idle'] as const;
export type RuleCondition = (typeof ruleConditions)[number];

/** Return the condition of a rule. */
export const conditionOf = (rule: { readonly [name in RuleCondition]?: unknown }): RuleCondition =>
  ruleConditions.find((name) => rule[name] !== undefined) ?? 'nan';
