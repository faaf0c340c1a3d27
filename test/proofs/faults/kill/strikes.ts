import { pick, shuffled } from '../../../support/random-choice.ts';
import type { TracedCall } from '../injection/middleware.ts';

/** Where to kill: a process by its role, its n-th external call or the first at a named point, before or after it. */
export interface Mark {
  role: string;
  at: number | string;
  when: 'before' | 'after';
}

const sides = ['before', 'after'] as const;

/** The calls of a traced life, each once. */
export function callsOf(calls: readonly TracedCall[]): { role: string; call: number; point?: string }[] {
  const seen = new Map<string, { role: string; call: number; point?: string }>();
  for (const { role, call, point } of calls)
    seen.set(`${role} ${call}`, { role, call, ...(point !== undefined && { point }) });
  return [...seen.values()];
}

/** Before and after each named point of each process. */
export function namedMarks(calls: readonly TracedCall[]): Mark[] {
  const points = new Set(
    callsOf(calls).flatMap(({ role, point }) => (point === undefined ? [] : [`${role}\n${point}`])),
  );
  return [...points].flatMap((text) => {
    const [role = '', at = ''] = text.split('\n');
    return sides.map((when) => ({ role, at, when }));
  });
}

/** Before and after `count` calls, drawn: all of them in another order, then all again where there are fewer. */
export function drawnMarks(random: () => number, calls: readonly TracedCall[], count: number): Mark[] {
  const all = callsOf(calls);
  const drawn: typeof all = [];
  while (drawn.length < count) drawn.push(...shuffled(random, all));
  return drawn.slice(0, count).flatMap(({ role, call }) => sides.map((when) => ({ role, at: call, when })));
}

/** The first half of what each process called: so many calls come in every life. */
export function surelyCalled(calls: readonly TracedCall[]): TracedCall[] {
  const byRole = Map.groupBy(calls, ({ role }) => role);
  const middle = (role: string): number => {
    const numbers = (byRole.get(role) ?? []).map(({ call }) => call);
    return (Math.min(...numbers) + Math.max(...numbers)) / 2;
  };
  return calls.filter(({ role, call }) => call <= middle(role));
}

/** One mark more, for one that did not come to pass. */
export function anotherMark(random: () => number, calls: readonly TracedCall[]): Mark {
  const { role, call } = pick(random, callsOf(calls));
  return { role, at: call, when: pick(random, sides) };
}
