import { setTimeout as delay } from 'node:timers/promises';
import type { MailTopic } from '../../../shared/aws/signed/email-topic.ts';
import { forSeconds } from '../../../shared/core/deadline.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { type Delivery, findDelivery } from '../../../shared/data/hooks/delivery.ts';
import type { Hook } from '../../../shared/data/hooks/hook.ts';
import type { TableReader, TableWriter } from '../../../shared/data/table/table.ts';
import { parseMessage } from '../../../shared/hooks/message.ts';
import { sendPending } from '../../../shared/hooks/send-pending.ts';
import type { Ambient } from '../../../shared/http/definition/endpoint-context.ts';
import { showDelivery } from './hook.ts';

/**
 * Send a message that has just been recorded, and answer with what came of it. A person waits for this answer, so the
 * request sends it itself; if a worker is faster, it waits for the worker.
 */
export async function deliverNow(
  { records, accounts, mail, settings, now, newId, log }: Delivering,
  recorded: Delivery,
): Promise<ReturnType<typeof showDelivery>> {
  const context = { records, accounts, mail, admitted: settings.hookHosts, now, newId, log };
  const hasTime = forSeconds(patience);
  let delivery = recorded;
  do {
    await sendPending(context, recorded, hasTime);
    delivery = (await findDelivery(records, recorded)) ?? recorded;
    if (delivery.tries > recorded.tries || delivery.status !== 'pending') break;
    await delay(200);
  } while (hasTime());
  return showDelivery(delivery, parseMessage(delivery.message).text.title);
}

/** Seconds for an answer. A request has 29, and a receiver 10 of them. */
const patience = 12;

type Delivering = Pick<Ambient, 'now' | 'newId' | 'log' | 'settings'> & {
  records: TableWriter<'records'>;
  accounts: TableReader<'accounts'>;
  mail: MailTopic | undefined;
};

/** @throws ServiceError `conflict` if a hook is disabled */
export function requireEnabled({ disabled }: Hook): void {
  if (disabled !== null) throw new ServiceError('conflict', `The hook is disabled. ${disabled}`);
}
