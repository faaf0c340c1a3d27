import * as z from 'zod';
import { readProjectAudit } from '../../shared/data/accounts/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { projectPath } from '../../shared/http/definition/parameters.ts';
import { answerAudit, auditDescription, auditOutput, auditQuery } from './audit-answer.ts';

export const endpoint = defineEndpoint({
  name: 'listProjectAudit',
  method: 'GET',
  path: '/projects/{project_id}/audit',
  summary: 'Who changed what in a project, newest first',
  description: `For its owner and admins. ${auditDescription}`,
  allow: 'developer',
  project: 'owner',
  needs: { records: readProjectAudit },
  input: { path: projectPath, query: z.strictObject(auditQuery) },
  work: 'page: about 4,000 records and 24 months',
  output: auditOutput,

  handle: ({ path: { project_id }, query }, context) =>
    answerAudit([context.records], query, project_id, context),
});
