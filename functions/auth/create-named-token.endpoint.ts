import * as z from 'zod';
import { badRequest, ServiceError } from '../../shared/core/service-error.ts';
import { line } from '../../shared/core/text/text-rules.ts';
import { writeCredentials } from '../../shared/data/accounts/needs.ts';
import { issueNamedToken, maxNamedTokens } from '../../shared/data/accounts/token.ts';
import { readRecords } from '../../shared/data/table/needs.ts';
import { ConditionFailedError } from '../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { fields } from '../../shared/http/definition/endpoint-input.ts';
import { integer } from '../../shared/http/definition/parameters.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { AskedBudget, AskedScope, scopeFaults } from './asked-scope.ts';
import { TokenAnswer } from './credentials.ts';

const daySeconds = 24 * 60 * 60;

export const endpoint = defineEndpoint({
  name: 'createNamedToken',
  method: 'POST',
  path: '/auth/tokens',
  summary: 'Create a token for a script',
  description: `The token has a name and is valid for \`expires_in\` seconds: a minute to a year, by default 90 days. Only this response contains it. Without a \`scope\` it has all rights of the user, who can have ${maxNamedTokens} tokens. A scope only takes rights away, and always those over accounts, tokens, sessions, members, hooks, secrets and deletions. A token with a scope creates no token. A change of password or account type revokes it.`,
  allow: 'guest',
  audit: { fields: ['name', 'expires_in', 'scope', 'budget'] },
  needs: { accounts: writeCredentials, records: readRecords },
  input: {
    body: fields(
      z.strictObject({
        name: line(128).describe('Purpose of the token, such as `nightly training`.'),
        expires_in: integer(60, 365 * daySeconds)
          .default(90 * daySeconds)
          .describe('Seconds for which it is valid.'),
        scope: AskedScope.optional().describe('What it may do. Default: all that the user may do.'),
        budget: AskedBudget.optional(),
      }),
    ),
  },
  output: {
    201: TokenAnswer.extend({
      access_token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int(),
    }).meta({ id: 'NewToken' }),
  },
  problems: ['conflict'],

  async handle({ body: { name, expires_in, scope: asked, budget = null } }, context) {
    const { accounts, caller, newId, now, sourceIp, header } = context;
    const scope = asked && { rights: asked.rights, projects: asked.projects ?? null };
    const faults = await scopeFaults(context, scope, budget);
    if (faults.length > 0) throw badRequest(faults);
    const use = { user_agent: header('user-agent') ?? '', address: sourceIp };
    const options = { token_id: newId(), now: now(), seconds: expires_in, name, scope, budget, use };
    context.noteAudit({ subject: { token_id: options.token_id } });
    try {
      const issued = await issueNamedToken(accounts, caller, options);
      if (issued === undefined) {
        const detail = `You have ${maxNamedTokens} tokens for scripts, which is the maximum. Revoke one that is no longer needed.`;
        throw new ServiceError('conflict', detail);
      }
      const { bearer, token } = issued;
      return Reply.json(
        { ...token, charged: budget && 0, access_token: bearer, token_type: 'Bearer' as const, expires_in },
        { headers: { 'Cache-Control': 'no-store' } },
      );
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      throw new ServiceError('conflict', 'The account was changed at the same time. Try again.', {
        cause: error,
      });
    }
  },
});
