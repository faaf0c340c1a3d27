import * as z from 'zod';
import { within } from '../../shared/core/needs.ts';
import { readCredentials } from '../../shared/data/accounts/needs.ts';
import { chargedTokenOf, listTokens } from '../../shared/data/accounts/token.ts';
import { monthPatterns } from '../../shared/data/jobs/budget.ts';
import { readRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../shared/http/definition/pagination.ts';
import { programName, TokenAnswer } from './credentials.ts';
import { withCharges } from './with-charges.ts';

const ListedToken = TokenAnswer.extend({
  current: z.boolean(),
  program: z
    .string()
    .nullable()
    .describe('Program that asked for the token, such as `mps/0.1.0`; null if unknown.'),
  address: z.string().nullable().describe('IP address that asked for the token; null if unknown.'),
}).meta({ id: 'ListedToken' });

export const endpoint = defineEndpoint({
  name: 'listTokens',
  method: 'GET',
  path: '/auth/tokens',
  summary: 'Your valid tokens, newest first',
  description:
    'Tokens for scripts and tokens of sign-ins. `current` marks the token of this request. One with a scope sees itself alone.',
  allow: 'guest',
  right: 'read',
  keepsToProjects: true,
  needs: { accounts: readCredentials, records: within(readRecords, { partitions: [...monthPatterns] }) },
  input: { query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(ListedToken) },

  handle({ query }, { accounts, records, caller, now }) {
    return answerList(query, {
      async fetch(page) {
        const found = await listTokens(accounts, caller, now(), page);
        const seen = found.items.filter(
          ({ hash }) => caller.scope === undefined || hash === caller.token_hash,
        );
        return { ...found, items: await withCharges(records, seen, chargedTokenOf) };
      },
      keyOf: ({ token_id }) => token_id,
      show: ({
        token_id,
        name,
        created_at,
        expires_at,
        scope,
        budget,
        charged,
        hash,
        user_agent,
        address,
      }) => ({
        token_id,
        name,
        created_at,
        expires_at,
        scope,
        budget,
        charged,
        current: hash === caller.token_hash,
        program: user_agent === '' ? null : programName(user_agent),
        address: address === '' ? null : address,
      }),
    });
  },
});
