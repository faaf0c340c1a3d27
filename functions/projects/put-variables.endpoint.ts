import * as z from 'zod';
import { writeRecords } from '../../shared/data/needs.ts';
import { makeVariablesKey } from '../../shared/data/variables-key.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { fields } from '../../shared/http/endpoint-input.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { requirePrecondition } from '../../shared/http/precondition.ts';
import { projectPath } from '../../shared/http/project-path.ts';
import { Reply } from '../../shared/http/reply.ts';
import { changeVariables, storedVariables } from './change-variables.ts';
import { showVariables, VariableAnswer } from './variable-answer.ts';
import { VariablesBody, variablesMaxBytes } from './variable-rules.ts';

export const endpoint = defineEndpoint({
  name: 'putVariables',
  method: 'PUT',
  path: '/projects/{project_id}/variables',
  summary: 'Set all environment variables of a project',
  description:
    'Variables that are not named are deleted. A variable without `value` keeps its value, so secrets need not be sent again; `If-Match` makes sure that none was changed meanwhile. Jobs that are submitted later get the new variables. At most 100 variables, 16 KiB each and 64 KiB together.',
  allow: 'developer',
  project: 'owner',
  needs: { records: writeRecords, keys: makeVariablesKey },
  input: { path: projectPath, body: fields(VariablesBody, variablesMaxBytes) },
  output: { 200: z.array(VariableAnswer) },
  problems: ['conflict', 'precondition-failed', 'too-large', 'unsupported-media-type'],
  etag: true,

  async handle({ body: { variables } }, context) {
    const changed = await changeVariables(context, (present, time) => {
      requirePrecondition(context, present.version);
      const faultName = (index: number) => `variables.${index}.value`;
      return storedVariables(context, variables, present, { time, faultName });
    });
    return Reply.json(showVariables(changed), { version: changed.version });
  },
});

export const handler = lambda(endpoint);
