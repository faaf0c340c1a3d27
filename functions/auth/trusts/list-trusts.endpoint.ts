import * as z from 'zod';
import { within } from '../../../shared/core/needs.ts';
import { listTrusts } from '../../../shared/data/accounts/ci-trust.ts';
import { readCredentials } from '../../../shared/data/accounts/needs.ts';
import { chargedTokenOf } from '../../../shared/data/accounts/token.ts';
import { monthPatterns } from '../../../shared/data/jobs/budget.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { withCharges } from '../with-charges.ts';
import { TrustAnswer } from './trust.ts';

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
    return withCharges(records, trusts, (trust) => chargedTokenOf({ ...trust, token_id: trust.trust_id }));
  },
});
