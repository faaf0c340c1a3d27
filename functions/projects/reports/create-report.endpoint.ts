import * as z from 'zod';
import { notFound } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { maxReports } from '../../../shared/data/projects/report.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { maxBlocks } from '../../../shared/reports/parse-report.ts';
import { storeReport } from '../../../shared/reports/store-report.ts';
import { answerReport, ReportAnswer, reportBodyBytes, reportFields } from './report.ts';

export const endpoint = defineEndpoint({
  name: 'createReport',
  method: 'POST',
  path: '/projects/{project_id}/reports',
  summary: 'Write a report: a page of a project with live and frozen blocks',
  description: `Its text is Markdown. Its blocks show values, tables, charts, pictures, sweeps and receipts of this project, and nothing of another. What they name cannot be deleted while the report shows it. A project has at most ${maxReports} reports, a report at most ${maxBlocks} blocks.`,
  allow: 'developer',
  project: 'developer',
  audit: { fields: ['title'] },
  needs: { records: writeRecords, accounts: readUsers },
  input: { path: projectPath, body: fields(z.strictObject(reportFields), reportBodyBytes) },
  work: 'heavy: 100 curves of frozen charts in blocks',
  isHeavy: ({ body: { text } }) => text.includes('frozen'),
  output: { 200: ReportAnswer },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],
  etag: true,
  idempotent: {
    kind: 'creates',
    table: 'records',
    replayCreated: (report_id, { records, accounts, project: { project_id } }) =>
      answerReport({ records, accounts }, { project_id, report_id }),
  },

  async handle({ body: { title, text } }, context) {
    const { project, caller, newId, now, idempotencyWrites } = context;
    const report_id = newId();
    const at = now().toISOString();
    const value = {
      report_id,
      title,
      updated_by: caller.user_id,
      created_at: at,
      updated_at: at,
      version: 1,
    };
    try {
      await storeReport(context, project, value, { text, also: idempotencyWrites(report_id) });
    } catch (error) {
      if (error instanceof ConditionFailedError) throw notFound('project', project.project_id);
      throw error;
    }
    return answerReport(context, { project_id: project.project_id, report_id });
  },
});
