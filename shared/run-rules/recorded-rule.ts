import * as z from 'zod/mini';
import type { MetRule, RuleProgress } from './judge-rules.ts';
import { isSameCondition } from './rule-text.ts';
import { RunRule } from './run-rule.ts';

/** A rule of a run, and when it was met. */
export const RecordedRule = z.object({
  rule: RunRule,
  of: z
    .enum(['run', 'project'])
    .check(z.describe('Who gave it: the run, or its project when the run began.')),
  met: z.nullable(
    z.object({
      at: z.iso.datetime({ precision: 3 }),
      reason: z.string().check(z.describe('What happened, in a sentence.')),
    }),
  ),
});
export type RecordedRule = z.infer<typeof RecordedRule>;

/**
 * Return the rules with which a run begins: its own, and those of its project. Where both have the same condition, the
 * run decides what to do.
 */
export const rulesOfRun = (
  own: readonly RunRule[] = [],
  ofProject: readonly RunRule[] = [],
): RecordedRule[] => [
  ...own.map((rule) => ({ rule, of: 'run' as const, met: null })),
  ...ofProject
    .filter((rule) => !own.some((one) => isSameCondition(one, rule)))
    .map((rule) => ({ rule, of: 'project' as const, met: null })),
];

/** Return the rules that a run was given itself. */
export const ownRules = (rules: readonly RecordedRule[] = []): RunRule[] =>
  rules.flatMap(({ rule, of }) => (of === 'run' ? [rule] : []));

/** Return the rules with those marked that are met now. */
export const withMet = (rules: readonly RecordedRule[], met: readonly MetRule[], now: Date): RecordedRule[] =>
  rules.map((rule, index) => {
    const reason = met.find((each) => each.index === index)?.reason;
    return reason === undefined ? rule : { ...rule, met: { at: now.toISOString(), reason } };
  });

/** Return the progress of rules before anything has happened. A rule that was met before is not met again. */
export const progressOf = (rules: readonly RecordedRule[], now: number): RuleProgress => ({
  heard: now,
  rules: rules.map(({ met }) => ({ isSeen: met !== null, isMet: met !== null })),
});
