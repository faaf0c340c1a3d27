import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { ExportAnswer, requireExport, showExport } from './export-answer.ts';

export const endpoint = defineEndpoint({
  name: 'readExport',
  method: 'GET',
  path: '/projects/{project_id}/export',
  summary: 'Progress of the latest export of a project',
  allow: 'developer',
  project: 'owner',
  needs: { records: readRecords },
  input: { path: projectPath },
  output: { 200: ExportAnswer },

  async handle({ path: { project_id } }, { records, now }) {
    return showExport(await requireExport(records, project_id, now()));
  },
});
