import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { AccountType, type User } from '../../shared/data/accounts/user.ts';
import { Reply } from '../../shared/http/definition/reply.ts';

/** The token of a person who has signed in, as RFC 6749 names its fields, and their account. */
export const GrantedToken = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.number().int(),
  user_id: Ulid,
  username: z.string(),
  account_type: AccountType,
});

/** Return the response with a token that is valid for so many seconds. No cache keeps it. */
export const answerToken = (
  { user_id, username, account_type }: User,
  access_token: string,
  expires_in: number,
): Reply<z.input<typeof GrantedToken>> =>
  Reply.json(
    { access_token, token_type: 'Bearer', expires_in, user_id, username, account_type },
    { headers: { 'Cache-Control': 'no-store' } },
  );
