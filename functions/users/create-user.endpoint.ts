import * as z from 'zod';
import { hashing, hashingRuntime } from '../../shared/accounts/hashing-queue.ts';
import { hashPassword } from '../../shared/accounts/password.ts';
import { isMadeOfName, NewPassword, ofNameMessage } from '../../shared/accounts/password-rules.ts';
import { countRegistration } from '../../shared/accounts/registration-rate.ts';
import { badRequest, notFound, ServiceError } from '../../shared/core/service-error.ts';
import { writePasswords } from '../../shared/data/accounts/needs.ts';
import {
  AccountType,
  createUser,
  findUser,
  findUserId,
  type User,
  Username,
  usernameClaim,
} from '../../shared/data/accounts/user.ts';
import { signInMaxBytes } from '../../shared/http/body/body-limit.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { fields } from '../../shared/http/definition/endpoint-input.ts';
import { showUser, UserAnswer } from './account.ts';
import { requireMayRegister } from './registration-rule.ts';

const taken = (username: string): ServiceError =>
  new ServiceError('conflict', `The user name ${username} is taken.`);

export const endpoint = defineEndpoint({
  name: 'createUser',
  method: 'POST',
  path: '/users/',
  summary: 'Create a user',
  description:
    'For admins. With open registration, anyone may create a guest. A password in the URL is refused. An Idempotency-Key does not cover the password: a repeated request returns the user as first created, with the first password.',
  allow: 'anyone',
  throttle: { perSecond: 10, burst: 40 },
  audit: { fields: ['username', 'account_type'] },
  needs: { accounts: writePasswords },
  runtime: hashingRuntime,
  input: {
    queryOrBody: z.strictObject({
      username: Username.describe('The name to sign in with; letters become lower case.'),
      account_type: AccountType.describe(
        'Rights of the user: `guest` manages their own account, `viewer` also reads, `developer` also changes, `admin` also manages users.',
      ),
    }),
    body: fields(
      z.strictObject({
        password: NewPassword.describe('At least 8 characters; common ones and names are refused.'),
      }),
      signInMaxBytes,
    ),
  },
  output: { 201: UserAnswer },
  problems: ['forbidden', 'conflict', 'too-many-requests'],
  etag: true,
  idempotent: {
    kind: 'creates',
    table: 'accounts',
    async replayCreated(user_id, { accounts }) {
      const user = await findUser(accounts, user_id);
      if (user === undefined) throw notFound('user', user_id);
      return showUser(user);
    },
  },

  permit({ queryOrBody: { account_type } }, { caller, settings: { registration } }) {
    requireMayRegister({ caller, registration, account_type });
  },

  async handle({ queryOrBody, body }, { accounts, caller, newId, now, idempotencyWrites, sourceIp }) {
    const { username, account_type } = queryOrBody;
    if (isMadeOfName(body.password, username))
      throw badRequest([{ in: 'body', name: 'password', message: ofNameMessage }]);
    const isAdmin = caller?.account_type === 'admin';
    if (!isAdmin) await countRegistration(accounts, sourceIp, now());
    // An early check that saves the hashing. The conditional write is authoritative.
    if ((await findUserId(accounts, username)) !== undefined) throw taken(username);
    const hashed = () => hashPassword(body.password);
    const hash = await (isAdmin ? hashed() : hashing.admit(hashed));
    const user: User = {
      user_id: newId(),
      username,
      account_type,
      created_at: now().toISOString(),
      version: 1,
      credentials_version: 1,
    };
    try {
      await createUser(accounts, user, hash, { also: idempotencyWrites(user.user_id) });
    } catch (error) {
      if (usernameClaim.failedIn(error)) throw taken(username);
      throw error;
    }
    return showUser(user);
  },
});
