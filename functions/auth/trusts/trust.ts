import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { ciProviders } from '../../../shared/data/accounts/ci-providers.ts';
import { TokenScope } from '../../../shared/data/accounts/token-scope.ts';

export const CiProvider = z.enum(ciProviders, `must be one of ${ciProviders.join(', ')}`);

/** A trust in an answer. */
export const TrustAnswer = z
  .object({
    trust_id: Ulid,
    provider: CiProvider,
    name: z.string(),
    issuer: z.string(),
    claims: z.record(z.string(), z.string()).describe('What the tokens of its runs must say.'),
    scope: TokenScope,
    budget: z.number().nullable().describe('US$ for all tokens together; null without a budget.'),
    charged: z
      .number()
      .nullable()
      .describe('US$ that their jobs have cost and may still cost; null without a budget.'),
    created_at: Timestamp,
  })
  .meta({ id: 'CiTrust' });
