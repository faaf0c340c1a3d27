import * as z from 'zod';
import { readVariables } from '../../../shared/data/projects/variable.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { showVariables, VariableAnswer } from './variable.ts';

export const endpoint = defineEndpoint({
  name: 'listVariables',
  method: 'GET',
  path: '/projects/{project_id}/variables',
  summary: 'The environment variables of a project, by name',
  description:
    'Every training of the project gets them. The `value` of a secret is null, because secrets are never returned.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath },
  work: 'page: the limit of every list',
  output: { 200: z.array(VariableAnswer) },
  etag: true,

  async handle({ path: { project_id } }, { records }) {
    const variables = await readVariables(records, project_id);
    return Reply.json(showVariables(variables), { version: variables.version });
  },
});
