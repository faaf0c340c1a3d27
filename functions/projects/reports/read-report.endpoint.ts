import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerReport, ReportAnswer, reportPath } from './report.ts';

export const endpoint = defineEndpoint({
  name: 'readReport',
  method: 'GET',
  path: '/projects/{project_id}/reports/{report_id}',
  summary: 'A report of a project',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords, accounts: readUsers },
  input: { path: reportPath },
  output: { 200: ReportAnswer },
  etag: true,

  handle: ({ path }, context) => answerReport(context, path),
});
