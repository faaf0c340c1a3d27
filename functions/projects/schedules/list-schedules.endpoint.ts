import * as z from 'zod';
import { listSchedules } from '../../../shared/data/schedules/schedule.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { ScheduleAnswer, showSchedule } from '../../../shared/schedules/show-schedule.ts';

export const endpoint = defineEndpoint({
  name: 'listSchedules',
  method: 'GET',
  path: '/projects/{project_id}/schedules',
  summary: 'The schedules of a project, newest first',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath, query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(ScheduleAnswer) },

  handle: ({ path: { project_id }, query }, { records }) =>
    answerList(query, {
      fetch: (page) => listSchedules(records, project_id, page),
      keyOf: ({ schedule_id }) => schedule_id,
      show: showSchedule,
    }),
});
