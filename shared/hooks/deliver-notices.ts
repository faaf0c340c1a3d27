import type { Deadline } from '../core/deadline.ts';
import { errorStack } from '../core/error-text.ts';
import { within } from '../core/needs.ts';
import { deliveryLanes, listLanes } from '../data/hooks/delivery-lane.ts';
import { listNotices, notices } from '../data/hooks/notice.ts';
import {
  logSetAside,
  setAside,
  type UnreadableRow,
  type WatchedPosition,
} from '../data/lists/watched-list.ts';
import { readAccounts } from '../data/table/needs.ts';
import { EventDescriber } from './describe-event.ts';
import { fanOut } from './fan-out.ts';
import { type SendContext, sendPending } from './send-pending.ts';

/** Lists of a worker that delivers: events, and hooks with messages to be sent. */
export const hookLists = [notices, deliveryLanes] as const;

/** Names of users, for filters, and the key of the hooks' secrets. No password. */
export const readForHooks = /* @__PURE__ */ within(readAccounts, { partitions: ['USERS', 'VARIABLES_KEY'] });

/**
 * Turn the events that have happened into messages, and send those that are due. Any number of workers may do so at
 * the same time, and any may die: what one has not finished, another does.
 */
export async function deliverNotices(context: SendContext, hasTime: Deadline): Promise<void> {
  await fanOutAll(context, hasTime);
  await sendAll(context, hasTime);
}

/** Maximum number of events, and of receivers, that are handled at once. */
const parallel = 8;

async function fanOutAll(context: SendContext, hasTime: Deadline): Promise<void> {
  const { records, accounts, now } = context;
  const describer = new EventDescriber({ records, accounts, now });
  let position: WatchedPosition | undefined;
  do {
    const page = await listNotices(records, position);
    await asideAll(context, page.unreadable);
    await inParallel(page.items, hasTime, async (notice) => {
      try {
        await fanOut(records, notice, describer, now);
      } catch (error) {
        // A failed event must not hold up the others. It is tried again with the next pass.
        context.log.error('notice-failed', { id: notice.notice_id, stack: errorStack(error) });
      }
    });
    position = page.next;
  } while (position !== undefined && hasTime());
}

async function sendAll(context: SendContext, hasTime: Deadline): Promise<void> {
  const { records, now } = context;
  let position: WatchedPosition | undefined;
  do {
    const page = await listLanes(records, position);
    await asideAll(context, page.unreadable);
    const time = now().toISOString();
    const due = page.items.filter(
      ({ next_at, claimed_until }) =>
        next_at <= time && (claimed_until === undefined || claimed_until < time),
    );
    await inParallel(due, hasTime, async (lane) => {
      try {
        await sendPending(context, lane, hasTime);
      } catch (error) {
        context.log.error('deliveries-failed', { hook_id: lane.hook_id, stack: errorStack(error) });
      }
    });
    position = page.next;
  } while (position !== undefined && hasTime());
}

async function asideAll({ records, log, now }: SendContext, rows: readonly UnreadableRow[]): Promise<void> {
  for (const row of rows) if (await setAside(records, row, now())) logSetAside(log, row);
}

/** Work through a list, several at a time, while there is time. */
async function inParallel<T>(
  all: readonly T[],
  hasTime: Deadline,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const left = [...all];
  const workers = Array.from({ length: Math.min(parallel, left.length) }, async () => {
    for (let one = left.shift(); one !== undefined && hasTime(); one = left.shift()) await work(one);
  });
  await Promise.all(workers);
}
