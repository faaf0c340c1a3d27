import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { readAccountAudit, readProjectAudit } from '../../shared/data/accounts/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { answerAudit, auditDescription, auditOutput, auditQuery } from './audit-answer.ts';

export const endpoint = defineEndpoint({
  name: 'listAudit',
  method: 'GET',
  path: '/audit',
  summary: 'Who changed what in the whole deployment, newest first',
  description: auditDescription,
  allow: 'admin',
  needs: { records: readProjectAudit, accounts: readAccountAudit },
  input: {
    query: z.strictObject({
      project: Ulid.optional().describe('Only what is about this project, also after its deletion.'),
      ...auditQuery,
    }),
  },
  work: 'page: about 4,000 records and 24 months',
  output: auditOutput,

  async handle({ query }, context) {
    const { records, accounts } = context;
    const tables = query.project === undefined ? [records, accounts] : [records];
    return answerAudit(tables, query, query.project, context);
  },
});
