import * as z from 'zod';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';
import { AccountType, type User } from '../../shared/data/accounts/user.ts';
import { Reply } from '../../shared/http/definition/reply.ts';

/** A user as every operation returns them. */
export const UserAnswer = z
  .object({
    user_id: Ulid,
    username: z.string(),
    account_type: AccountType,
    created_at: Timestamp,
  })
  .meta({ id: 'User' });

export const showUser = (user: User): Reply<User> => Reply.json(user, { version: user.version });
