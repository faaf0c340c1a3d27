import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { originOf } from '../../../shared/data/accounts/ci-run.ts';
import { countActive } from '../../../shared/data/schedules/active-schedules.ts';
import { requireSchedule, type Schedule, type ScheduleIds } from '../../../shared/data/schedules/schedule.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { configParams } from '../../../shared/experiments/config-params.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { projectId } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import {
  changeWrites,
  type ScheduleContext,
  setTimerInRequest,
} from '../../../shared/schedules/advance-schedule.ts';
import { paused, rescheduled } from '../../../shared/schedules/schedule-state.ts';
import { showSchedule } from '../../../shared/schedules/show-schedule.ts';
import { requireCommandValues } from '../../../shared/training/command-values.ts';
import { parseStored } from '../../../shared/training/parse-stored.ts';
import type { TrainingInputs } from '../../../shared/training/record-experiment.ts';

/** Path parameters of all operations on one schedule. */
export const schedulePath = z.strictObject({
  project_id: projectId,
  schedule_id: Ulid.describe('Id of the schedule, from the response that made it.'),
});

/** Answer with the current state of a schedule. */
export async function answerSchedule(
  records: TableReader<'records'>,
  ids: ScheduleIds,
): Promise<Reply<ReturnType<typeof showSchedule>>> {
  const schedule = await requireSchedule(records, ids);
  return Reply.json(showSchedule(schedule), { version: schedule.version });
}

/**
 * Return the fields that let a schedule run as the caller, by the token of this request.
 * @throws ServiceError `forbidden` for a run of a CI system
 */
export function runsAs({ user_id, username, token_id, scope, charged_token, ci }: Caller) {
  if (ci !== undefined)
    throw new ServiceError(
      'forbidden',
      'A run of a CI system cannot leave a schedule behind, because its token ends with it. Use the schedule of the CI system.',
    );
  const isLimited = scope !== undefined || charged_token !== undefined;
  return {
    user_id,
    username,
    ...originOf({ charged_token }),
    ...(isLimited && token_id !== undefined && { token_id }),
  };
}

/** Return a schedule that runs as the caller from now on, by the token of this request. @throws as {@link runsAs} */
export function runsAgainAs(schedule: Schedule, caller: Caller): Schedule {
  const { charged_token: _, token_id: __, ci: ___, ...kept } = schedule;
  return { ...kept, ...runsAs(caller) };
}

/** Return a schedule that a person pauses; what the service noted of one that was paused before stays. */
export const pausedBy = (schedule: Schedule, { username }: Pick<Caller, 'username'>): Schedule =>
  schedule.status === 'PAUSED' ? schedule : paused(schedule, `Paused by ${username}.`);

/** Return a schedule that a person lets run again, as themselves. @throws as {@link runsAs} */
export const resumedBy = (schedule: Schedule, caller: Caller, now: Date): Schedule =>
  rescheduled({ ...runsAgainAs(schedule, caller), failures: 0 }, now);

/** Refuse a command whose placeholders the configuration does not have, now and not at night. */
export async function requireRunnable(
  { config_id, content, environment }: Pick<TrainingInputs, 'config_id' | 'content' | 'environment'>,
  name: 'config' | 'command',
): Promise<void> {
  const { data } = await parseStored(config_id, content);
  const { entry_point_command: command } = environment;
  requireCommandValues(command, config_id, configParams(data), { in: 'body', name });
}

/**
 * Change a schedule for a person, and set its timer.
 * @param change returns the changed schedule, or undefined if it already is so
 * @throws ServiceError `conflict`, `not-found`
 */
export async function changeSchedule(
  context: Pick<ScheduleContext, 'records' | 'now' | 'log' | 'timers'>,
  ids: ScheduleIds,
  change: (schedule: Schedule) => Schedule | undefined,
): Promise<Reply<ReturnType<typeof showSchedule>>> {
  const { records } = context;
  const { current, left } = await retryOnConflict(async () => {
    const schedule = await requireSchedule(records, ids);
    const next = change(schedule);
    if (next === undefined) return { current: schedule, left: [] };
    const changed = await changeWrites(context, schedule, next, true);
    const counted = next.status === 'ACTIVE' ? [await countActive(records, next)] : [];
    await records.write(...changed.writes, ...counted);
    return { current: next, left: changed.left };
  });
  await setTimerInRequest(context, current, left);
  return answerSchedule(records, ids);
}
