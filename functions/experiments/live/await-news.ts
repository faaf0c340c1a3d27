import type { Item } from '../../../shared/data/table/item.ts';
import { nextWrite } from '../../../shared/data/table/recent-values.ts';
import type { Patience } from '../../../shared/http/definition/endpoint-context.ts';

/** News of what a client follows: `prompt` ones are points and a new status, `slow` ones all others. */
export type News = 'none' | 'slow' | 'prompt';

/** A sign that changes with what is followed, and the time before it was read, as `performance.now()`. */
export interface Mark {
  text: string;
  at: number;
}

/** Return a text that changes with the versions and the heartbeats of these records. */
export const changesOf = (items: readonly (Item | undefined)[]): string =>
  JSON.stringify(items.map((item) => [item?.['version'], item?.['heartbeat_at']]));

interface Followed<S> {
  /** Partitions and names of items whose writes by this process are news. */
  sources: readonly string[];
  /** Whether jobs write too, which are other processes. */
  isPolled: boolean;
  /** Mark of before the first look. */
  known: Mark;
  /** Time of the previous answer, in epoch milliseconds. */
  answered_at: number;
  /** Read the mark. Costs little. */
  mark(): Promise<Mark>;
  look(): Promise<S>;
}

/**
 * Wait for news, at most 20 s, and return the last look. A follower gets `slow` news at most every 3.4 s, and points 1.7 s
 * after they were stored at the latest. The table is asked at most once a second.
 * @returns undefined, without a wait, if the caller has too many requests that wait
 */
export async function awaitNews<S extends { news: News }>(
  patience: Patience,
  first: S,
  { sources, isPolled, known, answered_at, mark, look }: Followed<S>,
): Promise<S | undefined> {
  const begun = performance.now();
  /** Return the time that is so much after the previous answer, or now. A clock may jump. */
  const afterAnswer = (milliseconds: number) =>
    begun + Math.min(Math.max(0, answered_at + milliseconds - Date.now()), milliseconds);
  const dueOf = (news: News, latest: number): number => {
    if (news === 'none') return Number.POSITIVE_INFINITY;
    const due = afterAnswer(slowMilliseconds);
    return news === 'slow' ? due : Math.min(due, latest);
  };
  let seen = first;
  let before = known;
  let due = dueOf(first.news, afterAnswer(promptMilliseconds));
  if (due <= begun) return first;
  const hasWaited = await patience.park(async (signal) => {
    let checked = begun;
    for (;;) {
      const rest = () => Math.min(due, begun + waitMilliseconds) - performance.now();
      if (rest() <= 0) return;
      await nextWrite(sources, Math.min(rest(), isPolled ? pollMilliseconds : recheckMilliseconds), signal);
      // Many writes are one read.
      const early = before.at + pollMilliseconds - performance.now();
      if (early > 0) await nextWrite([], Math.min(early, Math.max(0, rest())), signal);
      if (signal.aborted) return;
      if (performance.now() - checked >= recheckMilliseconds) {
        await patience.recheck();
        checked = performance.now();
      }
      const present = await mark();
      if (present.text !== before.text) {
        seen = await look();
        due = Math.min(due, dueOf(seen.news, before.at + promptMilliseconds));
      }
      before = present;
    }
  });
  return hasWaited ? seen : undefined;
}

/** API Gateway and its local twin give up after 29 s. */
const waitMilliseconds = 20_000;
const pollMilliseconds = 1_000;
const recheckMilliseconds = 5_000;
const slowMilliseconds = 3_400;
const promptMilliseconds = 1_700;

/** Seconds after which a client asks again where the service does not wait: AWS charges for a function that waits. */
export const retrySeconds = { points: 2, running: 4, inLine: 10, idle: 15 } as const;
