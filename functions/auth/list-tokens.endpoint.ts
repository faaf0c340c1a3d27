import * as z from 'zod';
import { readCredentials } from '../../shared/data/accounts/needs.ts';
import { listTokens } from '../../shared/data/accounts/token.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../shared/http/definition/pagination.ts';
import { lambda } from '../../shared/http/pipeline/lambda.ts';
import { programName, TokenAnswer } from './credentials.ts';

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
  description: 'Tokens for scripts and tokens of sign-ins. `current` marks the token of this request.',
  allow: 'guest',
  needs: { accounts: readCredentials },
  input: { query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(ListedToken) },

  handle({ query }, { accounts, caller, now }) {
    return answerList(query, {
      fetch: (page) => listTokens(accounts, caller, now(), page),
      keyOf: ({ token_id }) => token_id,
      show: ({ token_id, name, created_at, expires_at, scope, hash, user_agent, address }) => ({
        token_id,
        name,
        created_at,
        expires_at,
        scope,
        current: hash === caller.token_hash,
        program: user_agent === '' ? null : programName(user_agent),
        address: address === '' ? null : address,
      }),
    });
  },
});

export const handler = lambda(endpoint);
