/** How long something must last: a number of evaluations, or a time. */
export type RuleSpan = { evaluations: number } | { milliseconds: number };

const evaluations = /^(\d{1,6}) *evaluations?$/i;

const duration = /^(\d{1,6}(?:\.\d{1,3})?) *(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)$/i;

/** Seconds of a unit, by its first letter. */
const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Longest duration of a rule, in seconds: as long as a deployment lets a job run at most. */
const maxSeconds = 30 * 86_400;

/** Return the milliseconds of `90s`, `30m`, `1.5 h` or `2 days`. Return undefined for other texts. */
export function durationOf(text: string): number | undefined {
  const [, amount = '', unit = ''] = duration.exec(text.trim()) ?? [];
  const total = Number(amount) * (seconds[unit.charAt(0).toLowerCase()] ?? 0);
  return total >= 1 && total <= maxSeconds ? total * 1000 : undefined;
}

/** Return the span of a text, such as `10 evaluations` or `20m`. Return undefined for other texts. */
export function spanOf(text: string): RuleSpan | undefined {
  const [, amount] = evaluations.exec(text.trim()) ?? [];
  if (amount !== undefined) return Number(amount) >= 1 ? { evaluations: Number(amount) } : undefined;
  const milliseconds = durationOf(text);
  return milliseconds === undefined ? undefined : { milliseconds };
}

/** Return the percentage of `5 %` or `5`. Return undefined for other texts. */
export function percentageOf(text: string | number): number | undefined {
  const value = typeof text === 'number' ? text : percentage.test(text.trim()) ? Number.parseFloat(text) : -1;
  return value > 0 && value <= 100 ? value : undefined;
}

const percentage = /^\d{1,3}(?:\.\d{1,3})? *%?$/;

/** What durations and spans look like, for error messages. */
export const spanForms = {
  duration: 'a duration from 1s to 30d, such as 90s, 30m or 2h',
  span: 'a number of evaluations, such as 10 evaluations, or a duration, such as 90s, 30m or 2h',
  percentage: 'a percentage above 0, such as 5 %',
} as const;
