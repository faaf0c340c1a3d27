import * as z from 'zod';
import { badRequest } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { requireReport } from '../../../shared/data/projects/report.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { storeReport } from '../../../shared/reports/store-report.ts';
import { answerReport, ReportAnswer, reportBodyBytes, reportFields, reportPath } from './report.ts';

const Change = z
  .strictObject({ title: reportFields.title.optional(), text: reportFields.text.optional() })
  .meta({ minProperties: 1 });

export const endpoint = defineEndpoint({
  name: 'updateReport',
  method: 'PATCH',
  path: '/projects/{project_id}/reports/{report_id}',
  summary: 'Change the title or the text of a report',
  description:
    'Blocks whose lines are unchanged may name what is gone, and keep their data if they are frozen; others are frozen now, and what no block shows any more can be deleted again.',
  allow: 'developer',
  project: 'developer',
  audit: { fields: ['title'] },
  needs: { records: writeRecords, accounts: readUsers },
  input: { path: reportPath, body: fields(Change, reportBodyBytes) },
  work: 'heavy: 100 curves of frozen charts in blocks',
  isHeavy: ({ body: { text = '' } }) => text.includes('frozen'),
  output: { 200: ReportAnswer },
  problems: ['conflict', 'precondition-failed', 'too-large', 'unsupported-media-type'],
  etag: true,

  async handle({ path, body }, context) {
    if (Object.keys(body).length === 0)
      throw badRequest([{ in: 'body', name: 'body', message: 'must have at least one of title, text' }]);
    const { records, caller, now } = context;
    await changeInProject(context, async (project) => {
      const { report: previous, text } = await requireReport(records, path);
      requirePrecondition(context, previous.version);
      context.noteAudit({ before: previous });
      const { report_id, created_at, version } = previous;
      const value = {
        ...{ report_id, created_at, title: body.title ?? previous.title },
        updated_by: caller.user_id,
        updated_at: now().toISOString(),
        version: version + 1,
      };
      await storeReport(context, project, value, {
        text: body.text ?? text,
        previous: { report: previous, text },
      });
    });
    return answerReport(context, path);
  },
});
