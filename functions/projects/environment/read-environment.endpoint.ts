import { ServiceError } from '../../../shared/core/service-error.ts';
import { findEnvironment } from '../../../shared/data/projects/environment.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { EnvironmentAnswer } from './environment.ts';

export const endpoint = defineEndpoint({
  name: 'readEnvironment',
  method: 'GET',
  path: '/projects/{project_id}/environment',
  summary: 'Environment of a project',
  description: '`lock_hash` is null until the first build has resolved the dependencies.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath },
  output: { 200: EnvironmentAnswer },
  problems: ['not-found'],
  etag: true,

  async handle({ path: { project_id } }, { records }) {
    const environment = await findEnvironment(records, project_id);
    if (environment === undefined) {
      throw new ServiceError('not-found', `Project ${project_id} has no environment yet; PUT one here.`);
    }
    return Reply.json(environment, { version: environment.version });
  },
});
