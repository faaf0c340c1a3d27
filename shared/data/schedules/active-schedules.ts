import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import { ServiceError } from '../../core/service-error.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { findSchedules, type Schedule, type ScheduleIds } from './schedule.ts';

const activeSchedules = recordType('active-schedules', () =>
  z.object({
    /** Schedules that may be active and run as the user. Others are removed when the list is full. */
    schedules: z.array(z.object({ project_id: Ulid, schedule_id: Ulid })).max(maxActiveSchedules),
    version: z.number().int(),
  }),
);

/** Maximum number of active schedules that run as one user, in all projects. */
export const maxActiveSchedules = 100;

/** Label of the write that lists an active schedule. It fails if the list has changed since it was read. */
export const activeList = new WriteLabel('active schedules');

/** Return the partition with the list of a user's active schedules. */
export const activeSchedulesPartition = (user_id: string): string => `ACTIVE_SCHEDULES#${user_id}`;
const listKey = (user_id: string): Key => ({ pk: activeSchedulesPartition(user_id), sk: 'ACTIVE_SCHEDULES' });

/**
 * Build the write that counts an active schedule for the user as whom it runs. Nothing counts back: whatever pauses, deletes or
 * takes over a schedule leaves the list as it is.
 * @throws ServiceError `conflict` if the user has the maximum number
 */
export async function countActive(
  records: TableReader<'records'>,
  { user_id, project_id, schedule_id }: ScheduleIds & Pick<Schedule, 'user_id'>,
): Promise<Write> {
  const key = listKey(user_id);
  const { schedules, version } = await listOf(records, user_id);
  const unchanged = version === 0 ? { exists: false } : { equals: { version } };
  if (schedules.some((listed) => listed.schedule_id === schedule_id))
    return activeList.on({ check: key, if: unchanged });
  const kept = await withRoom(records, user_id, schedules);
  const next = { schedules: [...kept, { project_id, schedule_id }], version: version + 1 };
  return activeList.on({ put: activeSchedules.item(key, next), if: unchanged });
}

const listOf = async (records: TableReader<'records'>, user_id: string) =>
  (await activeSchedules.find(records, listKey(user_id))) ?? { schedules: [], version: 0 };

/** @throws ServiceError `conflict` if the user has the maximum number of active schedules */
export async function requireActiveRoom(records: TableReader<'records'>, user_id: string): Promise<void> {
  await withRoom(records, user_id, (await listOf(records, user_id)).schedules);
}

/** Return the list if it has room for another one, else what of it is active. @throws as {@link countActive} */
async function withRoom(
  records: TableReader<'records'>,
  user_id: string,
  schedules: readonly ScheduleIds[],
): Promise<readonly ScheduleIds[]> {
  const kept =
    schedules.length < maxActiveSchedules ? schedules : await activeOf(records, user_id, schedules);
  if (kept.length < maxActiveSchedules) return kept;
  throw new ServiceError(
    'conflict',
    `You have the maximum of ${maxActiveSchedules} active schedules in all projects. Pause or delete one first.`,
  );
}

/** Return those that are active and run as the user. */
async function activeOf(
  records: TableReader<'records'>,
  user_id: string,
  ids: readonly ScheduleIds[],
): Promise<ScheduleIds[]> {
  const { items } = await findSchedules(records, ids);
  return items
    .filter((schedule) => schedule.status === 'ACTIVE' && schedule.user_id === user_id)
    .map(({ project_id, schedule_id }) => ({ project_id, schedule_id }));
}
