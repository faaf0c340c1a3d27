import * as z from 'zod';
import { readRecords } from '../../shared/data/needs.ts';
import { listDatasets } from '../../shared/data/upload.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { answerList, paging } from '../../shared/http/paging.ts';
import { projectPath } from '../../shared/http/project-path.ts';
import { DatasetAnswer, showDataset } from './upload-answer.ts';

export const endpoint = defineEndpoint({
  name: 'listDatasets',
  method: 'GET',
  path: '/projects/{project_id}/datasets',
  summary: 'The data sets of a project, by name',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath, query: z.strictObject(paging) },
  output: { 200: z.array(DatasetAnswer) },

  handle({ path: { project_id }, query }, { records }) {
    return answerList(query, {
      fetch: (page) => listDatasets(records, project_id, page),
      keyOf: ({ name }) => name,
      show: showDataset,
    });
  },
});

export const handler = lambda(endpoint);
