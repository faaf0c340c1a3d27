import * as z from 'zod';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { readUsernames } from '../../../shared/data/accounts/user.ts';
import { listProjectReports } from '../../../shared/data/projects/report.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { ReportHead, showHead } from './report.ts';

export const endpoint = defineEndpoint({
  name: 'listReports',
  method: 'GET',
  path: '/projects/{project_id}/reports',
  summary: 'The reports of a project, newest first',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords, accounts: readUsers },
  input: { path: projectPath, query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(ReportHead) },

  async handle({ path: { project_id }, query }, { records, accounts }) {
    let usernames: ReadonlyMap<string, string> = new Map();
    return answerList(query, {
      fetch: async (page) => {
        const reports = await listProjectReports(records, project_id, page);
        const ids = new Set(reports.items.map(({ updated_by }) => updated_by));
        usernames = await readUsernames(accounts, [...ids]);
        return reports;
      },
      keyOf: ({ report_id }) => report_id,
      show: (report) => showHead(report, usernames),
    });
  },
});
