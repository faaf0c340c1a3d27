import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { ScheduleAnswer } from '../../../shared/schedules/show-schedule.ts';
import { changeSchedule, pausedBy, schedulePath } from './schedule.ts';

export const endpoint = defineEndpoint({
  name: 'pauseSchedule',
  method: 'POST',
  path: '/projects/{project_id}/schedules/{schedule_id}/pause',
  summary: 'Pause a schedule',
  description: 'No further run begins; one that runs goes on.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  needs: { records: writeRecords },
  input: { path: schedulePath },
  repeatable: true,
  output: { 200: ScheduleAnswer },
  problems: ['conflict'],
  etag: true,

  handle: ({ path }, context) =>
    changeSchedule({ ...context, timers: undefined }, path, (schedule) =>
      schedule.status === 'PAUSED' ? undefined : pausedBy(schedule, context.caller),
    ),
});
