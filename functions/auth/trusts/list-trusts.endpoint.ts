import * as z from 'zod';
import { within } from '../../../shared/core/needs.ts';
import { listTrusts } from '../../../shared/data/accounts/ci-trust.ts';
import { readCredentials } from '../../../shared/data/accounts/needs.ts';
import { monthPatterns, readCosts, tokenAccount } from '../../../shared/data/jobs/budget.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { roundedDollars } from '../../../shared/jobs/cost.ts';
import { chargedTrust, TrustAnswer } from './trust.ts';

export const endpoint = defineEndpoint({
  name: 'listTrusts',
  method: 'GET',
  path: '/auth/trusts',
  summary: 'Your trusts in CI, newest first',
  allow: 'guest',
  needs: { accounts: readCredentials, records: within(readRecords, { partitions: [...monthPatterns] }) },
  input: {},
  work: 'page: a user has at most 50 trusts',
  output: { 200: z.array(TrustAnswer) },

  async handle(_, { accounts, records, caller }) {
    const trusts = await listTrusts(accounts, caller);
    const charged = trusts.flatMap((trust) => chargedTrust(trust) ?? []);
    const costs = charged.length === 0 ? [] : await readCosts(records, charged.map(tokenAccount));
    const byId = new Map(charged.map(({ token_id }, index) => [token_id, costs[index]?.cost.committed ?? 0]));
    return trusts.map((trust) => {
      const dollars = byId.get(trust.trust_id);
      return { ...trust, charged: dollars === undefined ? null : roundedDollars(dollars) };
    });
  },
});
