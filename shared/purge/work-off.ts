import type { Page } from '../data/table.ts';
import type { Logger } from '../endpoint/log.ts';
import type { StillTime } from './still-time.ts';

interface Backlog<T> {
  list(after: string | undefined): Promise<Page<T>>;
  idOf(one: T): string;
  work(one: T): Promise<unknown>;
}

/** Does everything that a list holds, page by page, while there is time. */
export async function workOff<T>(
  { list, idOf, work }: Backlog<T>,
  stillTime: StillTime,
  log: Logger,
): Promise<void> {
  let after: string | undefined;
  do {
    const page = await list(after);
    for (const { key, reason } of page.unreadable ?? []) log.error('unreadable-record', { key, reason });
    for (const one of page.items) {
      try {
        await work(one);
      } catch (error) {
        // One that fails must not keep the others from their turn; it comes again itself.
        log.error('purge-failed', { id: idOf(one), stack: error instanceof Error ? error.stack : '' });
      }
    }
    after = page.next;
  } while (after !== undefined && stillTime());
}
