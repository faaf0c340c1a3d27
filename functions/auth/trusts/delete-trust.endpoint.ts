import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { removeTrust } from '../../../shared/data/accounts/ci-trust.ts';
import { writeTrusts } from '../../../shared/data/accounts/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';

export const endpoint = defineEndpoint({
  name: 'deleteTrust',
  method: 'DELETE',
  path: '/auth/trusts/{trust_id}',
  summary: 'Remove one of your trusts in CI',
  description: 'Its tokens are revoked at once. What they have begun goes on.',
  allow: 'guest',
  needs: { accounts: writeTrusts },
  input: {
    path: z.strictObject({ trust_id: Ulid.describe('ID of the trust, from GET /auth/trusts.') }),
  },
  output: { 200: z.object({ trust_id: Ulid }) },
  problems: ['not-found'],

  async handle({ path: { trust_id } }, { accounts, caller }) {
    if (!(await removeTrust(accounts, caller.user_id, trust_id))) throw notFound('trust', trust_id);
    return { trust_id };
  },
});
