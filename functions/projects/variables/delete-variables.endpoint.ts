import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { changeVariables } from './change-variables.ts';

export const endpoint = defineEndpoint({
  name: 'deleteVariables',
  method: 'DELETE',
  path: '/projects/{project_id}/variables',
  summary: 'Delete all environment variables of a project',
  description: 'Jobs that are already submitted keep their variables until they end.',
  allow: 'developer',
  project: 'owner',
  needs: { records: writeRecords },
  input: { path: projectPath },
  output: { 200: z.object({ project_id: Ulid, deleted: z.object({ variables: z.number().int() }) }) },
  problems: ['conflict', 'precondition-failed'],
  etag: true,

  async handle({ path: { project_id } }, context) {
    let variables = 0;
    const { version } = await changeVariables(context, (present) => {
      requirePrecondition(context, present.version);
      variables = present.variables.length;
      return [];
    });
    return Reply.json({ project_id, deleted: { variables } }, { version });
  },
});
