import { usualGoal } from '../metrics/criteria.ts';
import { isSystemMetric } from '../metrics/system-metric.ts';
import { conditionOf } from './rule-condition.ts';
import { durationOf, percentageOf, type RuleSpan, spanOf } from './rule-span.ts';
import type { RunRule } from './run-rule.ts';

/**
 * Judge the rules of a run by what has just happened. It is a pure function: a supervisor keeps the progress in memory,
 * and the operations that log points keep it in the table. A rule is met once in a run.
 *
 * Points count in the order in which they arrive, and durations of metrics by the times of their points. `silent` counts
 * by the clock of `now`, and only when nothing has just arrived.
 *
 * @param before progress of the rules, in their order; undefined before the first event
 * @example
 * const first = judgeRules(rules, undefined, { now: 0 });
 * const { progress, met } = judgeRules(rules, first.progress, { now: 500, points });
 */
export function judgeRules(
  rules: readonly RunRule[],
  before: RuleProgress | undefined,
  { now, points = [], hasPrinted = false }: RunEvent,
): { progress: RuleProgress; met: readonly MetRule[] } {
  const isHeard = before === undefined || hasPrinted || points.some(({ name }) => !isSystemMetric(name));
  const heard = isHeard ? now : before.heard;
  const met: MetRule[] = [];
  const states = rules.map((rule, index) => {
    let state = before?.rules[index] ?? unseen;
    if (state.isMet) return state;
    const judge = judges[conditionOf(rule)](rule);
    let reason: string | undefined;
    for (const point of points) {
      if (reason !== undefined) break;
      ({ state, reason } = judge(state, point));
    }
    reason ??= reasonOfSilence(rule, now - heard);
    if (reason === undefined) return state;
    met.push({ index, reason });
    return { ...state, isSeen: true, isMet: true };
  });
  return { progress: { heard, rules: states }, met };
}

/** What happened to a run: points arrived, its program printed, or only time has passed. */
export interface RunEvent {
  /** Milliseconds of any clock that does not jump. */
  now: number;
  points?: readonly RulePoint[];
  /** Whether the program printed something. */
  hasPrinted?: boolean;
}

/** A point of a metric. Points that could not be stored, because METRICS_FILE takes no NaN, count too. */
export interface RulePoint {
  name: string;
  value: number;
  step: number | null;
  /** Milliseconds since 1970. */
  time: number;
}

/** A rule that is met now, with a sentence that says why. */
export interface MetRule {
  /** Index of the rule. */
  index: number;
  reason: string;
}

/** How far the rules of a run are. JSON can hold it. */
export interface RuleProgress {
  /** When the run was last heard of. */
  heard: number;
  rules: readonly RuleState[];
}

export interface RuleState {
  /** Whether it was judged: a point of its metric has come. */
  isSeen: boolean;
  isMet: boolean;
  /** Time of the first point of the present streak, or of the best value. */
  since?: number | undefined;
  /** Time of the last point of the streak. */
  last?: number | undefined;
  /** Points of the streak, or points since the best value. */
  count?: number | undefined;
  best?: number | undefined;
}

const unseen: RuleState = { isSeen: false, isMet: false };

/** Judge a point by one rule. */
type Judge = (state: RuleState, point: RulePoint) => { state: RuleState; reason?: string | undefined };

const judges: Readonly<Record<ReturnType<typeof conditionOf>, (rule: RunRule) => Judge>> = {
  nan: (rule) => (state, point) => {
    if (point.name !== rule.nan) return { state };
    const reason = Number.isFinite(point.value) ? undefined : `${valueText(point)}.`;
    return { state: { ...state, isSeen: true }, reason };
  },
  above: ({ above }) => bound(above, 'above', (value, limit) => value > limit),
  below: ({ below }) => bound(below, 'below', (value, limit) => value < limit),
  'no improvement': ({ 'no improvement': stalled }) => noImprovement(stalled),
  silent: () => (state) => ({ state }),
  idle: ({ idle }) => idleness(idle),
};

function bound(
  rule: RunRule['above'],
  word: 'above' | 'below',
  isBeyond: (value: number, limit: number) => boolean,
): Judge {
  if (rule === undefined) return (state) => ({ state });
  const { metric, value: limit, for: text } = rule;
  const span = (text === undefined ? undefined : spanOf(text)) ?? { evaluations: 1 };
  return (before, point) => {
    if (point.name !== metric) return { state: before };
    const seen = { ...before, isSeen: true };
    if (!isBeyond(point.value, limit)) return { state: { ...seen, since: undefined, count: undefined } };
    const { since = point.time, count = 0 } = before;
    const state = { ...seen, since, count: count + 1 };
    const long = text === undefined ? '' : ` for ${text}`;
    const reason = hasLasted(span, state.count, point.time - since)
      ? `${valueText(point)}, ${word} ${limit}${long}.`
      : undefined;
    return { state, reason };
  };
}

function noImprovement(rule: RunRule['no improvement']): Judge {
  const span = rule === undefined ? undefined : spanOf(rule.for);
  if (rule === undefined || span === undefined) return (state) => ({ state });
  const { metric, for: text, goal = usualGoal(metric) } = rule;
  return (before, point) => {
    if (point.name !== metric) return { state: before };
    const { best, since = point.time, count = 0 } = before;
    const { value, time } = point;
    const isBetter =
      Number.isFinite(value) && (best === undefined || (goal === 'maximize' ? value > best : value < best));
    if (isBetter) return { state: { ...before, isSeen: true, best: value, since: time, count: 0 } };
    // Points before the first number are no improvement on anything.
    if (best === undefined) return { state: { ...before, isSeen: true } };
    const state = { ...before, isSeen: true, since, count: count + 1 };
    const reason = hasLasted(span, state.count, time - since)
      ? `${metric} has not improved for ${text}. Its best value is ${numberText(best)}.`
      : undefined;
    return { state, reason };
  };
}

function idleness(rule: RunRule['idle']): Judge {
  const span = rule === undefined ? undefined : durationOf(rule.for);
  if (rule === undefined || span === undefined) return (state) => ({ state });
  const { gpu, cpu, for: text } = rule;
  const [device, share = 0] =
    gpu === undefined ? ['cpu', percentageOf(cpu ?? 0)] : ['gpu', percentageOf(gpu)];
  const names = device === 'gpu' ? gpuUse : cpuUse;
  const what = device === 'gpu' ? 'no GPU was used' : 'the vCPUs were not used';
  return (before, { name, value, time }) => {
    if (!names.test(name)) return { state: before };
    const seen = { ...before, isSeen: true, last: time };
    if (!(value < share)) return { state: { ...seen, since: undefined } };
    const { last = time, since = time } = before;
    // Nobody knows what a machine did while it was suspended.
    const state = { ...seen, since: time - last > maxGap ? time : since };
    const reason = time - state.since >= span ? `${what} by ${share} % or more for ${text}.` : undefined;
    return { state, reason };
  };
}

/** Names that MLflow gives to the use of a machine. */
const gpuUse = /^system\/gpu_\d+_utilization_percentage$/;
const cpuUse = /^system\/cpu_utilization_percentage$/;

/** Milliseconds between two samples of one device after which a streak begins again. Samples come every ten seconds. */
const maxGap = 60_000;

const hasLasted = (span: RuleSpan, count: number, milliseconds: number): boolean =>
  'evaluations' in span ? count >= span.evaluations : milliseconds >= span.milliseconds;

function reasonOfSilence({ silent }: RunRule, milliseconds: number): string | undefined {
  const span = silent === undefined ? undefined : durationOf(silent);
  if (span === undefined || milliseconds < span) return undefined;
  return `the program printed nothing and reported no metric for ${silent}.`;
}

/** `loss was NaN at step 3`. */
const valueText = ({ name, value, step }: RulePoint): string =>
  `${name} was ${numberText(value)}${step === null ? '' : ` at step ${step}`}`;

const numberText = (value: number): string => String(Number(value.toPrecision(6)));
