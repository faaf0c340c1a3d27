import * as z from 'zod';
import { controlBatch, setTimers } from '../../shared/aws/needs.ts';
import { forSeconds } from '../../shared/core/deadline.ts';
import { Ulid } from '../../shared/core/formats.ts';
import { newId } from '../../shared/core/new-id.ts';
import { readCredentials } from '../../shared/data/accounts/needs.ts';
import {
  repeatsByItself,
  scheduleNextPass,
  type WatchedPosition,
} from '../../shared/data/lists/watched-list.ts';
import { readVariablesKey } from '../../shared/data/projects/variable.ts';
import {
  listDue,
  type ScheduleTime,
  scheduleTimeKey,
  scheduleTimes,
} from '../../shared/data/schedules/schedule-time.ts';
import { writeRecords } from '../../shared/data/table/needs.ts';
import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { drainList } from '../../shared/purge/drain-list.ts';
import { advanceSchedule } from '../../shared/schedules/advance-schedule.ts';

/** Seconds of one pass. What is left waits for the next one. */
const seconds = 60;

/** Many schedules are due at the full hour: none waits for the slowest of those before it. */
const atOnce = 8;

/** Event of a timer of AWS. Other events start a pass over all times that have come. */
const Timer = z.object({ project_id: Ulid, schedule_id: Ulid });

/** Begin the trainings of schedules whose time has come, and take in the ends of those that they began. */
export const event = defineTask({
  name: 'schedules',
  runtime: { timeout: seconds + 60 },
  needs: {
    owners: readCredentials,
    records: writeRecords,
    batch: controlBatch,
    keys: readVariablesKey,
    timers: setTimers,
  },
  watches: [scheduleTimes],
  isTimed: true,

  async run(started: unknown, { owners, records, batch, keys, timers, settings, now, log }) {
    const context = { owners, records, batch, keys, timers, settings, now, newId, log };
    const timer = Timer.safeParse(started);
    if (timer.success) return advanceSchedule(context, timer.data);
    if (!repeatsByItself(started)) await scheduleNextPass(records, scheduleTimes);
    await drainList(
      {
        table: records,
        list: (position: WatchedPosition | undefined) => listDue(records, now(), position),
        keyOf: scheduleTimeKey,
        work: (time: ScheduleTime) => advanceSchedule(context, time, time),
        lanes: atOnce,
      },
      forSeconds(seconds),
      log,
      now,
    );
  },
});

export const handler = taskHandler(event);
