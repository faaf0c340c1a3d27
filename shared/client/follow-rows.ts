import type { Client, ListPage } from './client.ts';
import { ProblemError } from './problem-error.ts';
import { wait } from './retry.ts';
import type { Called, RequestOf, Route, RowOf } from './route.ts';
import { UnreachableError } from './unreachable-error.ts';

export interface Following {
  signal?: AbortSignal;
  /** Milliseconds between two requests while no new rows arrive. */
  pollMilliseconds?: number;
  /** Milliseconds between two attempts while the service is unreachable. */
  awayMilliseconds?: number;
  /** Called once when the service becomes unreachable, and once when it is back. */
  onConnection?(isLost: boolean): void;
  /** Whether to stop at the next empty page, even if the list may still grow. */
  isEnough?(): boolean;
}

const isAway = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof ProblemError && error.status === 503);

/**
 * Yield every row of a growing list, such as a log, until the list is complete. The client keeps the cursor, so
 * each row comes once, even if the service restarts.
 */
export async function* followRows<E extends Called>(
  client: Client,
  route: Route<E>,
  request: RequestOf<E>,
  { signal, pollMilliseconds = 500, awayMilliseconds = 1_000, onConnection, isEnough }: Following = {},
): AsyncGenerator<RowOf<E>[]> {
  let next: string | undefined;
  let isLost = false;
  for (;;) {
    const isLast = isEnough?.() ?? false;
    let page: ListPage<RowOf<E>>;
    try {
      page = await client.page<E>(route, { ...request, ...(signal !== undefined && { signal }) }, next);
    } catch (error) {
      if (!isAway(error)) throw error;
      if (!isLost) onConnection?.(true);
      isLost = true;
      await wait(awayMilliseconds, signal);
      continue;
    }
    if (isLost) onConnection?.(false);
    isLost = false;
    if (page.rows.length > 0) yield page.rows;
    if (page.next === undefined) return;
    next = page.next;
    if (page.rows.length > 0) continue;
    if (isLast) return;
    await wait(pollMilliseconds, signal);
  }
}
