import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { removeReport, requireReport } from '../../../shared/data/projects/report.ts';
import { lockSweeps } from '../../../shared/data/sweeps/sweep.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { reportPath } from './report.ts';

export const endpoint = defineEndpoint({
  name: 'deleteReport',
  method: 'DELETE',
  path: '/projects/{project_id}/reports/{report_id}',
  summary: 'Delete a report',
  description: 'What it showed stays, and can be deleted again.',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords },
  input: { path: reportPath },
  output: { 200: z.object({ report_id: Ulid }) },
  problems: ['conflict', 'precondition-failed'],

  async handle({ path }, context) {
    const { records, now } = context;
    await retryOnConflict(async () => {
      const { report } = await requireReport(records, path);
      requirePrecondition(context, report.version);
      const sweeps = await lockSweeps(records, path.project_id, report.sweeps, [], now());
      await records.write(...removeReport(report), ...sweeps);
    });
    return { report_id: path.report_id };
  },
});
