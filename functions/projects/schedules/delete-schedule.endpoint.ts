import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { removeSchedule, requireSchedule } from '../../../shared/data/schedules/schedule.ts';
import { removeTime } from '../../../shared/data/schedules/schedule-time.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { schedulePath } from './schedule.ts';

export const endpoint = defineEndpoint({
  name: 'deleteSchedule',
  method: 'DELETE',
  path: '/projects/{project_id}/schedules/{schedule_id}',
  summary: 'Delete a schedule',
  description: 'Its experiments stay, and one that runs goes on.',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords },
  input: { path: schedulePath },
  output: { 200: z.object({ schedule_id: Ulid }) },
  problems: ['conflict', 'precondition-failed'],

  async handle({ path }, context) {
    const { records } = context;
    await retryOnConflict(async () => {
      const schedule = await requireSchedule(records, path);
      requirePrecondition(context, schedule.version);
      const { next_at: at, schedule_id: time_id } = schedule;
      // A timer of AWS finds no schedule.
      const time = at === null ? [] : [removeTime({ at, time_id })];
      await records.write(...removeSchedule(schedule), ...time);
    });
    return { schedule_id: path.schedule_id };
  },
});
