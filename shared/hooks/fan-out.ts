import { newDelivery, putDelivery, putPending } from '../data/hooks/delivery.ts';
import { findLane, joinLane } from '../data/hooks/delivery-lane.ts';
import { type Hook, readHooks } from '../data/hooks/hook.ts';
import { type Notice, noticeKey, removeNotice } from '../data/hooks/notice.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableWriter, Write } from '../data/table/table.ts';
import type { EventDescriber } from './describe-event.ts';
import { type HookMessage, storedMessage } from './message.ts';

/**
 * Turn an event into one delivery for each hook that asks for it. The same transaction deletes the notice, so a crash
 * or a second worker makes no second delivery.
 */
export async function fanOut(
  records: TableWriter<'records'>,
  notice: Notice,
  describer: EventDescriber,
  now: () => Date,
): Promise<void> {
  const { project_id, type, notice_id: delivery_id, subject } = notice;
  const { hooks } = await readHooks(records, project_id);
  const asking = hooks.filter(({ events, disabled }) => disabled === null && events.includes(type));
  const event = asking.length === 0 ? undefined : await describer.describe(notice);
  const wanted = event === undefined ? [] : asking.filter(({ filter }) => event.matches(filter));
  await retryOnConflict(async () => {
    if ((await records.get(noticeKey(delivery_id))) === undefined) return;
    const writes = await Promise.all(
      wanted.map((hook) => {
        const message = event?.messageFor(hook.console_url);
        return message === undefined
          ? []
          : deliveryWrites(records, { project_id, hook, delivery_id, subject, message }, now());
      }),
    );
    await records.write(removeNotice(notice), ...writes.flat());
  });
}

/**
 * Build the writes that let a worker send a message to a hook.
 * @param isUrgent whether to send now even if the receiver was away
 */
export async function deliveryWrites(
  records: TableWriter<'records'>,
  { project_id, hook: { hook_id }, delivery_id, subject, message }: NewMessage,
  now: Date,
  isUrgent = false,
): Promise<Write[]> {
  const ids = { project_id, hook_id, delivery_id };
  const delivery = newDelivery({ ...ids, type: message.type, subject, message: storedMessage(message) }, now);
  const time = now.toISOString();
  return [
    putDelivery(delivery),
    putPending(hook_id, { delivery_id, subject, tries: 0, since: time, due_at: time }),
    joinLane(await findLane(records, hook_id), ids, now, isUrgent),
  ];
}

interface NewMessage {
  project_id: string;
  hook: Pick<Hook, 'hook_id'>;
  delivery_id: string;
  subject: string;
  message: HookMessage;
}
