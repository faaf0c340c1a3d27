import { readProjectObjects } from '../../../shared/aws/needs.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { exportObject } from '../../../shared/data/projects/project-archives.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { redirect } from '../../../shared/http/definition/endpoint-output.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { requireExport } from './export-answer.ts';

export const endpoint = defineEndpoint({
  name: 'downloadExport',
  method: 'GET',
  path: '/projects/{project_id}/export/file',
  summary: 'Download the archive of a project',
  description: 'Redirects to a URL that is valid for 15 minutes.',
  allow: 'developer',
  project: 'owner',
  needs: { records: readRecords, objects: readProjectObjects },
  input: { path: projectPath },
  output: { 302: redirect },
  problems: ['conflict'],

  async handle({ path: { project_id } }, { records, objects, project, now }) {
    const value = await requireExport(records, project_id, now());
    if (value.status !== 'SUCCEEDED') {
      const message =
        value.status === 'RUNNING'
          ? 'The archive is not packed yet.'
          : `The export failed. ${value.status_reason ?? ''}`;
      throw new ServiceError('conflict', message);
    }
    const name = `${project.project_name}.zip`;
    return Reply.redirect(await objects.presignDownload(exportObject(value), name, 'application/zip'));
  },
});
