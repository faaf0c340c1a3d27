import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { notFound } from '../../core/service-error.ts';
import { recordType } from '../table/record.ts';
import { type Item, type Key, type Page, readPage, type TableReader, type Write } from '../table/table.ts';

/** One attempt to deliver a message. */
export const DeliveryAttempt = z.object({
  at: Timestamp,
  /** Status of the answer. Null without an answer. */
  status: z.number().int().nullable(),
  seconds: z.number(),
  /** Sentence that says why it failed. Null for a success. */
  error: z.string().nullable(),
});
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

export const DeliveryStatus = z.enum(['pending', 'delivered', 'dead']);

const delivery = recordType('delivery', () =>
  z.object({
    /** Id of the message (`webhook-id`): that of its event, the same for each attempt. */
    delivery_id: Ulid,
    hook_id: Ulid,
    project_id: Ulid,
    type: z.string(),
    subject: z.string(),
    status: DeliveryStatus,
    /** Attempts so far. */
    tries: z.number().int(),
    /** The latest attempts. */
    attempts: z.array(DeliveryAttempt),
    /** Message as JSON, as `shared/hooks/message.ts` wrote it. */
    message: z.string(),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
    ttl: z.number().int(),
  }),
);
/** A message to one hook. */
export type Delivery = z.infer<typeof delivery.schema>;

/** Days for which deliveries are kept. */
const keptDays = 30;

/** Number of attempts that are kept of a delivery. */
const keptAttempts = 20;

/** Return the partition of the deliveries of a project's hooks. */
export const deliveriesPartition = (project_id: string): string => `DELIVERIES#${project_id}`;
const deliveryKey = ({ project_id, hook_id, delivery_id }: DeliveryIds): Key => ({
  pk: deliveriesPartition(project_id),
  sk: `${hook_id}#${delivery_id}`,
});

type DeliveryIds = Pick<Delivery, 'project_id' | 'hook_id' | 'delivery_id'>;

/** Build the record of a message that is to be sent. */
export const newDelivery = (
  ids: DeliveryIds & Pick<Delivery, 'type' | 'subject' | 'message'>,
  now: Date,
): Delivery => ({
  ...ids,
  status: 'pending',
  tries: 0,
  attempts: [],
  created_at: now.toISOString(),
  ended_at: null,
  ttl: Math.ceil(now.getTime() / 1000) + keptDays * 86_400,
});

export const putDelivery = (value: Delivery): Write => ({
  put: delivery.item(deliveryKey(value), value),
});

/** Return a delivery with one more attempt. */
export const withAttempt = (
  value: Delivery,
  attempt: DeliveryAttempt,
  status: Delivery['status'],
): Delivery => ({
  ...value,
  status,
  tries: value.tries + 1,
  attempts: [...value.attempts, attempt].slice(-keptAttempts),
  ended_at: status === 'pending' ? null : attempt.at,
});

export const findDelivery = (
  records: TableReader<'records'>,
  ids: DeliveryIds,
): Promise<Delivery | undefined> => delivery.find(records, deliveryKey(ids));

/** @throws ServiceError `not-found` */
export async function requireDelivery(
  records: TableReader<'records'>,
  ids: DeliveryIds,
  now: Date,
): Promise<Delivery> {
  const found = await findDelivery(records, ids);
  if (found === undefined || !isKept(found, now)) throw notFound('delivery', ids.delivery_id);
  return found;
}

/** Whether a delivery is within the days for which it is kept. The table removes expired items late. */
const isKept = ({ ttl }: Delivery, now: Date): boolean => ttl > now.getTime() / 1000;

/** Return a page of the deliveries of a hook, newest first. */
export async function listDeliveries(
  records: TableReader<'records'>,
  { project_id, hook_id }: Pick<Delivery, 'project_id' | 'hook_id'>,
  page: { limit: number; after: string | undefined },
  now: Date,
): Promise<Page<Delivery>> {
  const prefix = `${hook_id}#`;
  const after = page.after === undefined ? undefined : `${prefix}${page.after}`;
  const found = readPage(
    await records.query({
      pk: deliveriesPartition(project_id),
      prefix,
      descending: true,
      limit: page.limit,
      after,
    }),
    delivery.parse,
  );
  const items = found.items.filter((item) => isKept(item, now));
  return { ...found, items, next: found.next?.slice(prefix.length) };
}

const pending = recordType('pending-delivery', () =>
  z.object({
    delivery_id: Ulid,
    subject: z.string(),
    /** Attempts since it became pending. */
    tries: z.number().int(),
    /** Time since which it is to be sent. */
    since: Timestamp,
    /** Time of the next attempt. */
    due_at: Timestamp,
  }),
);
/** A message that is to be sent. The rows of a hook are in the order of subjects, and of events within one. */
export type PendingDelivery = z.infer<typeof pending.schema>;

const pendingPartition = (hook_id: string): string => `PENDING_DELIVERIES#${hook_id}`;
const pendingKey = (hook_id: string, { subject, delivery_id }: PendingIds): Key => ({
  pk: pendingPartition(hook_id),
  sk: `${subject}#${delivery_id}`,
});

type PendingIds = Pick<PendingDelivery, 'subject' | 'delivery_id'>;

export const putPending = (hook_id: string, value: PendingDelivery): Write => ({
  put: pending.item(pendingKey(hook_id, value), value),
});

export const removePending = (hook_id: string, ids: PendingIds): Write => ({
  delete: pendingKey(hook_id, ids),
});

/** Return a page of the messages of a hook that are to be sent. Leave out unreadable rows. */
export async function listPending(
  records: TableReader<'records'>,
  hook_id: string,
  after: string | undefined,
): Promise<Page<PendingDelivery>> {
  return readPage(await pendingItems(records, hook_id, after), pending.parse);
}

/** Return a page of the stored rows, also unreadable ones, for their removal. */
export const pendingItems = (
  records: TableReader<'records'>,
  hook_id: string,
  after: string | undefined,
): Promise<Page<Item>> => records.query({ pk: pendingPartition(hook_id), after, limit: 100 });
