import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { badRequest, type ParameterFault, ServiceError } from '../../shared/core/service-error.ts';
import { line } from '../../shared/core/text/text-rules.ts';
import { writeCredentials } from '../../shared/data/accounts/needs.ts';
import { issueNamedToken, maxNamedTokens } from '../../shared/data/accounts/token.ts';
import { TokenRight } from '../../shared/data/accounts/token-scope.ts';
import { readRecords } from '../../shared/data/table/needs.ts';
import type { TableReader } from '../../shared/data/table/table.ts';
import { ConditionFailedError } from '../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import type { Caller } from '../../shared/http/definition/endpoint-context.ts';
import { fields } from '../../shared/http/definition/endpoint-input.ts';
import { decimalAbove, integer } from '../../shared/http/definition/parameters.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { projectFor } from '../../shared/http/pipeline/project-authorization.ts';
import { noPriceMessage } from '../../shared/jobs/cost.ts';
import { TokenAnswer } from './credentials.ts';

const daySeconds = 24 * 60 * 60;

/** Maximum projects of a scope. */
const maxProjects = 100;

const Scope = z.strictObject({
  projects: z
    .array(Ulid)
    .min(1, 'names no project; leave it out for all projects of the user')
    .max(maxProjects, `names more than ${maxProjects} projects`)
    .transform((ids) => [...new Set(ids)])
    .optional()
    .describe('Ids of the only projects that it reaches. Default: all that the user reaches.'),
  rights: TokenRight.describe(
    '`read`: operations that only read. `record`: also what a tracker writes: experiments with their params, metrics, artifacts and logged models. `run`: also beginning and cancelling trainings, sweeps, trials and compressions, and uploading source, configurations, environment and data sets.',
  ),
});

export const endpoint = defineEndpoint({
  name: 'createNamedToken',
  method: 'POST',
  path: '/auth/tokens',
  summary: 'Create a token for a script',
  description: `The token has a name and is valid for \`expires_in\` seconds: a minute to a year, by default 90 days. Only this response contains it. Without a \`scope\` it has all rights of the user, who can have ${maxNamedTokens} tokens. A scope only takes rights away, and always those over accounts, tokens, sessions, members, hooks, secrets and deletions. A token with a scope creates no token. A change of password or account type revokes it.`,
  allow: 'guest',
  needs: { accounts: writeCredentials, records: readRecords },
  input: {
    body: fields(
      z.strictObject({
        name: line(128).describe('Purpose of the token, such as `nightly training`.'),
        expires_in: integer(60, 365 * daySeconds)
          .default(90 * daySeconds)
          .describe('Seconds for which it is valid.'),
        scope: Scope.optional().describe('What it may do. Default: all that the user may do.'),
        budget: decimalAbove(0, 1_000_000)
          .optional()
          .describe(
            'US$ that the jobs which it begins may cost together, those of its sweeps and retries included, such as `20`; needs the right `run`. A job that has no room for its most is refused.',
          ),
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
    const { accounts, caller, newId, now, settings, sourceIp, header } = context;
    const scope = asked && { rights: asked.rights, projects: asked.projects ?? null };
    const faults = scope?.projects ? await faultsOfProjects(context, scope.projects, scope.rights) : [];
    const budgetFault = scope?.rights !== 'run' ? 'needs a scope with the right run' : noPriceMessage;
    if (budget !== null && (scope?.rights !== 'run' || settings.prices === undefined))
      faults.push({ in: 'body', name: 'budget', message: budgetFault });
    if (faults.length > 0) throw badRequest(faults);
    const use = { user_agent: header('user-agent') ?? '', address: sourceIp };
    const options = { token_id: newId(), now: now(), seconds: expires_in, name, scope, budget, use };
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

/** Return the projects of a scope in which the user could not use it now: another user's, deleted and missing ones. */
async function faultsOfProjects(
  { records, caller }: { records: TableReader<'records'>; caller: Caller },
  projects: readonly string[],
  rights: TokenRight,
): Promise<ParameterFault[]> {
  if (caller.account_type === 'guest')
    throw new ServiceError('forbidden', 'Accounts of type guest reach no project.');
  const rule = rights === 'read' ? 'viewer' : 'developer';
  const found = await Promise.allSettled(projects.map((id) => projectFor(records, id, rule, caller)));
  return found.flatMap((one, index): ParameterFault[] => {
    if (one.status === 'rejected' && !(one.reason instanceof ServiceError)) throw one.reason;
    const fault =
      one.status === 'rejected'
        ? one.reason.message
        : one.value.deleted_at !== undefined && 'The project is deleted.';
    if (fault === false) return [];
    return [{ in: 'body', name: 'scope.projects', message: `names ${projects[index]}: ${fault}` }];
  });
}
