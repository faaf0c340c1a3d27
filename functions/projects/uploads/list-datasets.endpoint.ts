import * as z from 'zod';
import { listDatasets } from '../../../shared/data/projects/upload.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { DatasetAnswer, showDataset } from './upload.ts';

export const endpoint = defineEndpoint({
  name: 'listDatasets',
  method: 'GET',
  path: '/projects/{project_id}/datasets',
  summary: 'The data sets of a project, by name',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath, query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(DatasetAnswer) },

  handle({ path: { project_id }, query }, { records }) {
    return answerList(query, {
      fetch: (page) => listDatasets(records, project_id, page),
      keyOf: ({ name }) => name,
      show: showDataset,
    });
  },
});
