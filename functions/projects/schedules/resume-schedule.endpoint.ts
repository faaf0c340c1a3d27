import { setTimers } from '../../../shared/aws/needs.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { rescheduled } from '../../../shared/schedules/schedule-state.ts';
import { ScheduleAnswer } from '../../../shared/schedules/show-schedule.ts';
import { changeSchedule, runsAs, schedulePath } from './schedule.ts';

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
    const runner = runsAs(caller);
    return changeSchedule(context, path, (schedule) => {
      if (schedule.status === 'ACTIVE') return undefined;
      const { charged_token: _, token_id: __, ci: ___, ...kept } = schedule;
      return rescheduled({ ...kept, ...runner, failures: 0 }, now());
    });
  },
});
