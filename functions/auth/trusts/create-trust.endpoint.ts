import * as z from 'zod';
import { claimFaults, storedClaims } from '../../../shared/accounts/oidc/ci-claims.ts';
import { badRequest, ServiceError } from '../../../shared/core/service-error.ts';
import { line } from '../../../shared/core/text/text-rules.ts';
import { usualIssuers } from '../../../shared/data/accounts/ci-providers.ts';
import {
  type CiTrust,
  forgetFormerTrusts,
  maxTrusts,
  putTrust,
} from '../../../shared/data/accounts/ci-trust.ts';
import { writeTrusts } from '../../../shared/data/accounts/needs.ts';
import { withoutAudit } from '../../../shared/data/table/audited-writer.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { flag } from '../../../shared/http/definition/parameters.ts';
import { urlFault } from '../../../shared/outgoing/receiver-address.ts';
import { AskedBudget, AskedScope, scopeFaults } from '../asked-scope.ts';
import { CiProvider, TrustAnswer } from './trust.ts';

/** Ids are numbers that the provider never uses again. */
const id = z.string().regex(/^[1-9]\d{0,18}$/, 'must be the number that the provider gave it, not a name');

const Claims = z.strictObject({
  repository_id: id.optional().describe('GitHub: `id` of the repository in the REST API.'),
  repository_owner_id: id.optional().describe('GitHub: `owner.id` of the repository in the REST API.'),
  project_id: id.optional().describe('GitLab: ID of the project.'),
  ref: z
    .string()
    .regex(/^refs\/[^\p{Cc}\s]{1,250}$/u, 'must be a whole ref, such as refs/heads/main')
    .optional()
    .describe('Branch or tag, such as `refs/heads/main`.'),
  environment: line(255).optional().describe('Environment of the job, such as `production`.'),
  ref_protected: flag.optional().describe('GitLab: whether the branch is protected.'),
});

export const endpoint = defineEndpoint({
  name: 'createTrust',
  method: 'POST',
  path: '/auth/trusts',
  summary: 'Trust the runs of a repository in CI',
  description: `The runs exchange the identity token of their CI system for a token of at most an hour (\`POST /auth/oidc/exchange\`), so no secret is stored. A trust names a repository by its ids, because names can be taken over, and the branch or environment exactly. Its tokens have the scope, and one budget together. Without the right \`read\`, a run of GitHub must be caused by somebody with write access, so no pull request counts; one of GitLab must be on a protected branch. You can have ${maxTrusts} trusts. A change of password or account type ends them.`,
  allow: 'developer',
  audit: { fields: ['provider', 'name', 'issuer', 'claims', 'scope', 'budget'] },
  needs: { accounts: writeTrusts, records: readRecords },
  input: {
    body: fields(
      z.strictObject({
        provider: CiProvider.describe('System in which the runs are.'),
        name: line(140).describe('Path of the repository for people, such as `OWNER/NAME`.'),
        issuer: line(255)
          .optional()
          .describe("Issuer of the tokens, for a server of one's own. Default: github.com's or gitlab.com."),
        claims: Claims.describe('What the token of a run must say.'),
        scope: AskedScope.describe('What the tokens of the runs may do.'),
        budget: AskedBudget.optional(),
      }),
    ),
  },
  output: { 201: TrustAnswer },
  problems: ['conflict'],

  async handle({ body }, context) {
    const { accounts, caller, newId, now, settings } = context;
    const { provider, name, claims, budget = null } = body;
    const issuer = body.issuer ?? usualIssuers[provider];
    const scope = { rights: body.scope.rights, projects: body.scope.projects ?? null };
    const fault = issuerFault(issuer, settings.issuerHosts);
    const faults = [
      ...(fault === undefined ? [] : [{ in: 'body' as const, name: 'issuer', message: fault }]),
      ...claimFaults(provider, claims, scope.rights).map(({ name: claim, message }) => ({
        in: 'body' as const,
        name: `claims.${claim}`,
        message,
      })),
      ...(await scopeFaults(context, scope, budget)),
    ];
    if (faults.length > 0) throw badRequest(faults);
    if ((await forgetFormerTrusts(withoutAudit(accounts), caller)) >= maxTrusts)
      throw new ServiceError('conflict', `You have ${maxTrusts} trusts, which is the maximum. Remove one.`);
    const trust: CiTrust = {
      trust_id: newId(),
      user_id: caller.user_id,
      provider,
      name,
      issuer,
      claims: storedClaims(provider, claims),
      scope,
      budget,
      created_at: now().toISOString(),
      credentials_version: caller.credentials_version,
    };
    try {
      await putTrust(accounts, trust);
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      throw new ServiceError('conflict', 'The account was changed at the same time. Try again.', {
        cause: error,
      });
    }
    return { ...trust, charged: budget && 0 };
  },
});

/** Return what is wrong with the URL of an issuer; undefined if nothing is. */
function issuerFault(issuer: string, admitted: readonly string[]): string | undefined {
  const fault = urlFault(issuer, admitted, 'ISSUER_HOSTS');
  if (fault !== undefined) return fault;
  const { search, hash } = new URL(issuer);
  return search === '' && hash === '' ? undefined : 'must be a URL without a query and a fragment';
}
