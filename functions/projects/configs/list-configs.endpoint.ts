import * as z from 'zod';
import { listConfigs } from '../../../shared/data/projects/config.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { ConfigAnswer } from './config-answer.ts';

export const endpoint = defineEndpoint({
  name: 'listConfigs',
  method: 'GET',
  path: '/projects/{project_id}/configs',
  summary: 'The configurations of a project, by name',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath, query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(ConfigAnswer) },

  handle({ path: { project_id }, query }, { records }) {
    return answerList(query, {
      fetch: (page) => listConfigs(records, project_id, page),
      keyOf: ({ config_id }) => config_id,
      show: (config) => config,
    });
  },
});
