import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { newId } from '../../core/new-id.ts';
import {
  readWatched,
  type WatchedList,
  type WatchedPage,
  type WatchedPosition,
} from '../lists/watched-list.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';
import { HookEvent, isAskedFor } from './hook.ts';
import { noticePartition } from './notice-partition.ts';

const notice = recordType('notice', () =>
  z.object({
    /** Id of the messages that it leads to (`webhook-id`). */
    notice_id: Ulid,
    project_id: Ulid,
    type: HookEvent,
    /** Experiment, compression, sweep or model that it is about. Its messages are sent in order. */
    subject: z.string(),
    /** What was known at the event, as JSON. */
    facts: z.string(),
    created_at: Timestamp,
  }),
);
/**
 * An event that hooks of a project ask for. The transaction that makes the event true writes the row; the worker
 * turns it into deliveries and deletes it in one transaction. So no event is lost, and none gets a second id.
 */
export type Notice = z.infer<typeof notice.schema>;

/** Events that are not yet deliveries. */
export const notices: WatchedList<'records'> = { table: 'records', partitions: [noticePartition] };
export const noticeKey = (notice_id: string): Key => ({ pk: notices.partitions[0], sk: notice_id });

/**
 * Build the write of an event's notice, for the transaction that makes the event true. Return none if no hook of the
 * project asks for the event, so projects without hooks pay one read.
 * @param isAsked result of {@link isAskedFor} if that has already begun
 * @example
 * const told = await noticeWrites(records, { type: 'budget.reached', project_id, subject: project_id, facts: { spent } }, now());
 */
export async function noticeWrites(
  records: TableReader<'records'>,
  { type, project_id, subject, facts = {} }: NewNotice,
  now: Date,
  isAsked: Promise<boolean> = isAskedFor(records, project_id, type),
): Promise<Write[]> {
  if (!(await isAsked)) return [];
  const notice_id = newId(now.getTime());
  const created_at = now.toISOString();
  const value = { notice_id, project_id, type, subject, facts: JSON.stringify(facts), created_at };
  return [{ put: notice.item(noticeKey(notice_id), value) }];
}

/** An event. */
export interface NewNotice {
  type: HookEvent;
  project_id: string;
  subject: string;
  facts?: object;
}

/** Build the write that removes a notice. It fails if another worker has turned it into deliveries. */
export const removeNotice = ({ notice_id }: Notice): Write => ({
  delete: noticeKey(notice_id),
  if: { exists: true },
});

/** Return a page of the notices, oldest first. */
export const listNotices = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<Notice>> => readWatched(records, notices, notice.parse, position, 100);
