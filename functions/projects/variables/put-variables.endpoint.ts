import * as z from 'zod';
import { makeVariablesKey } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { changeVariables, storedVariables } from './change-variables.ts';
import { showVariables, VariableAnswer, VariablesBody, variablesMaxBytes } from './variable.ts';

export const endpoint = defineEndpoint({
  name: 'putVariables',
  method: 'PUT',
  path: '/projects/{project_id}/variables',
  summary: 'Set all environment variables of a project',
  description:
    'Deletes all variables that the request does not name. A variable without `value` keeps its value, so secrets need not be sent again. `If-Match` ensures that no variable has changed since it was read. Jobs that are submitted later get the new variables. At most 100 variables, 16 KiB each and 64 KiB together.',
  allow: 'developer',
  project: 'owner',
  needs: { records: writeRecords, keys: makeVariablesKey },
  input: { path: projectPath, body: fields(VariablesBody, variablesMaxBytes) },
  output: { 200: z.array(VariableAnswer) },
  problems: ['conflict', 'precondition-failed', 'too-large', 'unsupported-media-type'],
  etag: true,

  async handle({ body: { variables } }, context) {
    context.noteAudit({ after: { names: variables.map(({ name }) => name) } });
    const changed = await changeVariables(context, (present, time) => {
      requirePrecondition(context, present.version);
      const faultName = (index: number) => `variables.${index}.value`;
      return storedVariables(context, variables, present, { time, faultName });
    });
    return Reply.json(showVariables(changed), { version: changed.version });
  },
});
