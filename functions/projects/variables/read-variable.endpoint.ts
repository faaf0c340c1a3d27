import { notFound } from '../../../shared/core/service-error.ts';
import { findVariable, readVariables } from '../../../shared/data/projects/variable.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { showVariable, VariableAnswer, variablePath } from './variable.ts';

export const endpoint = defineEndpoint({
  name: 'readVariable',
  method: 'GET',
  path: '/projects/{project_id}/variables/{name}',
  summary: 'An environment variable of a project',
  description: 'The `value` of a secret is null, because secrets are never returned.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: variablePath },
  output: { 200: VariableAnswer },
  problems: ['not-found'],
  etag: true,

  async handle({ path: { project_id, name } }, { records }) {
    const stored = findVariable(await readVariables(records, project_id), name);
    if (stored === undefined) throw notFound('variable', name);
    return Reply.json(showVariable(stored), { version: stored.version });
  },
});
