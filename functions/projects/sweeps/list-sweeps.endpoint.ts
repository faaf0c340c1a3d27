import * as z from 'zod';
import { listSweeps } from '../../../shared/data/sweeps/sweep.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { SweepAnswer, showSweep } from '../../../shared/sweeps/trials/show-sweep.ts';

export const endpoint = defineEndpoint({
  name: 'listSweeps',
  method: 'GET',
  path: '/projects/{project_id}/sweeps',
  summary: 'The sweeps of a project, newest first',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath, query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(SweepAnswer) },

  handle: ({ path: { project_id }, query }, { records }) =>
    answerList(query, {
      fetch: (page) => listSweeps(records, project_id, page),
      keyOf: ({ sweep_id }) => sweep_id,
      show: showSweep,
    }),
});
