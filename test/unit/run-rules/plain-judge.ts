import type { RunRule } from '../../../shared/run-rules/run-rule.ts';

/** What happened to a run, `seconds` after the event before. */
export interface DrawnEvent {
  seconds: number;
  points: readonly { name: string; value: number }[];
  hasPrinted: boolean;
}

interface Seen {
  name: string;
  value: number;
  /** Seconds since the run began. */
  at: number;
}

/**
 * Return the index of the event at which a rule is met, by looking at everything up to each event from the beginning.
 * Return undefined if it is never met.
 */
export function plainlyMet(rule: RunRule, events: readonly DrawnEvent[]): number | undefined {
  const clock: number[] = [];
  for (const { seconds } of events) clock.push((clock.at(-1) ?? 0) + seconds);
  const index = events.findIndex((_, last) => {
    if (rule.silent !== undefined) {
      const heard = events
        .slice(0, last + 1)
        .map(({ hasPrinted, points }, at) =>
          hasPrinted || points.some(({ name }) => !name.startsWith('system/')) ? (clock[at] ?? 0) : 0,
        );
      return (clock[last] ?? 0) - Math.max(0, ...heard) >= Number.parseFloat(rule.silent);
    }
    const before = pointsOf(events.slice(0, last), clock).length;
    const all = pointsOf(events.slice(0, last + 1), clock);
    // Each point of the event may be the one that meets the rule.
    return all.some((_, end) => end >= before && isMetBy(rule, all.slice(0, end + 1)));
  });
  return index === -1 ? undefined : index;
}

const pointsOf = (events: readonly DrawnEvent[], clock: readonly number[]): Seen[] =>
  events.flatMap(({ points }, index) => points.map((point) => ({ ...point, at: clock[index] ?? 0 })));

/** Whether the last of these points meets the rule. */
function isMetBy(rule: RunRule, points: readonly Seen[]): boolean {
  const last = points.at(-1);
  const stalled = rule['no improvement'];
  const metric = rule.nan ?? rule.above?.metric ?? rule.below?.metric ?? stalled?.metric;
  const own = points.filter(({ name }) => name === metric);
  if (rule.idle !== undefined) return isIdle(rule.idle, points);
  if (last === undefined || last.name !== metric) return false;
  if (rule.nan !== undefined) return !Number.isFinite(last.value);
  if (stalled !== undefined) {
    const isBetter = (one: number, other: number) => (metric === 'acc' ? one > other : one < other);
    const numbers = own.filter(({ value }) => Number.isFinite(value));
    const best = numbers.find((one) => numbers.every((other) => !isBetter(other.value, one.value)));
    if (best === undefined || best === last) return false;
    const since = own.slice(own.indexOf(best) + 1);
    return hasLasted(stalled.for, since.length, last.at - best.at);
  }
  const { above, below } = rule;
  const beyond = ({ value }: Seen) =>
    above !== undefined ? value > above.value : value < (below?.value ?? Number.NaN);
  const streak = own.slice(own.findLastIndex((one) => !beyond(one)) + 1);
  const [first] = streak;
  return (
    first !== undefined &&
    hasLasted((above ?? below)?.for ?? '1 evaluations', streak.length, last.at - first.at)
  );
}

function isIdle({ gpu, for: span }: NonNullable<RunRule['idle']>, points: readonly Seen[]): boolean {
  const [device, most] = gpu === undefined ? ['system/cpu_', 3] : ['system/gpu_', 4];
  const own = points.filter(({ name }) => name.startsWith(device));
  if (own.length === 0 || own.at(-1) !== points.at(-1)) return false;
  const used = own.findLastIndex(({ value }) => !(value < most));
  const gap = own.findLastIndex((one, index) => index > 0 && one.at - (own[index - 1]?.at ?? 0) > 60);
  const [first] = own.slice(Math.max(used + 1, gap, 0));
  return first !== undefined && hasLasted(span, 0, (own.at(-1)?.at ?? 0) - first.at);
}

const hasLasted = (span: string, count: number, seconds: number): boolean =>
  span.endsWith('s') && !span.endsWith('evaluations')
    ? seconds >= Number.parseFloat(span)
    : count > 0 && count >= Number.parseFloat(span);
