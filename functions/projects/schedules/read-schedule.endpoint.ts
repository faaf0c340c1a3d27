import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { ScheduleAnswer } from '../../../shared/schedules/show-schedule.ts';
import { answerSchedule, schedulePath } from './schedule.ts';

export const endpoint = defineEndpoint({
  name: 'readSchedule',
  method: 'GET',
  path: '/projects/{project_id}/schedules/{schedule_id}',
  summary: 'A schedule: when it runs next, and what came of the last times',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: schedulePath },
  output: { 200: ScheduleAnswer },
  etag: true,

  handle: ({ path }, { records }) => answerSchedule(records, path),
});
