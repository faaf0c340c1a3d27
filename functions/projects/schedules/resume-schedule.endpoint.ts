import { setTimers } from '../../../shared/aws/needs.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { ScheduleAnswer } from '../../../shared/schedules/show-schedule.ts';
import { changeSchedule, resumedBy, schedulePath } from './schedule.ts';

export const endpoint = defineEndpoint({
  name: 'resumeSchedule',
  method: 'POST',
  path: '/projects/{project_id}/schedules/{schedule_id}/resume',
  summary: 'Resume a paused schedule',
  description:
    'From then on it runs as the caller, by the scope and budget of the token of this request. Times that passed meanwhile are not made up for.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  needs: { records: writeRecords, timers: setTimers },
  input: { path: schedulePath },
  repeatable: true,
  output: { 200: ScheduleAnswer },
  problems: ['conflict'],
  etag: true,

  handle({ path }, context) {
    const { caller, now } = context;
    return changeSchedule(context, path, (schedule) =>
      schedule.status === 'ACTIVE' ? undefined : resumedBy(schedule, caller, now()),
    );
  },
});
