import { findVariable, makeVariablesKey } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { changeVariables, storedVariables } from './change-variables.ts';
import { showVariable, VariableAnswer, VariableBody, variablePath } from './variable.ts';

export const endpoint = defineEndpoint({
  name: 'putVariable',
  method: 'PUT',
  path: '/projects/{project_id}/variables/{name}',
  summary: 'Set an environment variable of a project',
  description:
    'The variable is a secret unless `secret` is false. A secret is encrypted, given only to the jobs of this project, masked in their logs, and never returned. Jobs that are submitted later get the variable. Names that the service sets itself are refused.',
  allow: 'developer',
  project: 'owner',
  audit: { fields: ['secret'] },
  needs: { records: writeRecords, keys: makeVariablesKey },
  input: { path: variablePath, body: fields(VariableBody) },
  output: { 200: VariableAnswer },
  problems: ['conflict', 'precondition-failed', 'too-large', 'unsupported-media-type'],
  etag: true,

  async handle({ path: { name }, body: { value, secret } }, context) {
    const changed = await changeVariables(context, async (present, time) => {
      requirePrecondition(context, findVariable(present, name)?.version);
      const faultName = () => 'value';
      const wanted = [{ name, value, secret }];
      const stored = await storedVariables(context, wanted, present, { time, faultName });
      return [...present.variables.filter((variable) => variable.name !== name), ...stored];
    });
    const stored = findVariable(changed, name);
    if (stored === undefined) throw new Error(`${name} was stored but cannot be read`);
    return Reply.json(showVariable(stored), { version: stored.version });
  },
});
