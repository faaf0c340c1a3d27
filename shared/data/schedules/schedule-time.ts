import * as z from 'zod';
import { isoTime, Timestamp, Ulid } from '../../core/formats.ts';
import { readRows, type WatchedList, type WatchedPage, type WatchedPosition } from '../lists/watched-list.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';

const time = recordType('schedule-time', () =>
  z.object({
    at: Timestamp,
    /** Id of the schedule, or of the experiment whose end it looks at. */
    time_id: Ulid,
    project_id: Ulid,
    schedule_id: Ulid,
  }),
);
/**
 * A time at which a schedule is to be looked at: when it is due, when one of its experiments has ended, or when its timer is
 * to be set. Rows are in the order of their times, so what is not due is not read.
 */
export type ScheduleTime = z.infer<typeof time.schema>;

/** Times at which schedules are to be looked at. */
export const scheduleTimes: WatchedList<'records'> = { table: 'records', partitions: ['SCHEDULE_TIMES'] };

export const scheduleTimeKey = ({ at, time_id }: Pick<ScheduleTime, 'at' | 'time_id'>): Key => ({
  pk: scheduleTimes.partitions[0],
  sk: `${at}#${time_id}`,
});

export const putTime = (value: ScheduleTime): Write => ({ put: time.item(scheduleTimeKey(value), value) });
export const removeTime = (value: Pick<ScheduleTime, 'at' | 'time_id'>): Write => ({
  delete: scheduleTimeKey(value),
});

/** Return a page of the times that have come, the earliest first. */
export async function listDue(
  records: TableReader<'records'>,
  now: Date,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<ScheduleTime>> {
  const { pk } = scheduleTimeKey({ at: '', time_id: '' });
  const below = isoTime(now.getTime() + 1);
  const page = await records.query({ pk, below, after: position?.after, limit: 100 });
  const next = page.next === undefined ? undefined : { pk, after: page.next };
  return { ...readRows(page.items, time.parse), next };
}
