import { ServiceError } from '../../../shared/core/service-error.ts';
import { findSource } from '../../../shared/data/projects/upload.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { SourceAnswer } from './upload.ts';

export const endpoint = defineEndpoint({
  name: 'readSource',
  method: 'GET',
  path: '/projects/{project_id}/source',
  summary: 'The current source of a project',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath },
  output: { 200: SourceAnswer },
  problems: ['not-found'],
  etag: true,

  async handle({ path: { project_id } }, { records }) {
    const source = await findSource(records, project_id);
    if (source === undefined) {
      throw new ServiceError(
        'not-found',
        `Project ${project_id} has no source yet; POST here to upload one.`,
      );
    }
    return Reply.json(source, { version: source.version });
  },
});
