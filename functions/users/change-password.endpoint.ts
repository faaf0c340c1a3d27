import * as z from 'zod';
import { checkOwnPassword } from '../../shared/accounts/check-own-password.ts';
import { hashingRuntime } from '../../shared/accounts/hashing-queue.ts';
import { hashPassword } from '../../shared/accounts/password.ts';
import {
  isMadeOfName,
  NewPassword,
  ofNameMessage,
  PresentedPassword,
} from '../../shared/accounts/password-rules.ts';
import { badRequest, notFound, type ParameterFault, ServiceError } from '../../shared/core/service-error.ts';
import { setPassword } from '../../shared/data/accounts/change-user.ts';
import { writePasswords } from '../../shared/data/accounts/needs.ts';
import { findCredentials, findUser, findUserId } from '../../shared/data/accounts/user.ts';
import { ConditionFailedError } from '../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { fields } from '../../shared/http/definition/endpoint-input.ts';
import { requirePrecondition } from '../../shared/http/definition/precondition.ts';
import { requireMayChangeAccount, showUser, UserAnswer, userPath } from './account.ts';

export const endpoint = defineEndpoint({
  name: 'changePassword',
  method: 'PUT',
  path: '/users/{username}/password',
  summary: "Change a user's password",
  description:
    'Users change their own password and send `current_password`. Admins change any password without it. All tokens of the user are revoked.',
  allow: 'guest',
  needs: { accounts: writePasswords },
  runtime: hashingRuntime,
  input: {
    path: userPath,
    body: fields(
      z.strictObject({
        password: NewPassword.describe(
          'The new password, at least 8 characters; common ones and names are refused.',
        ),
        current_password: PresentedPassword.optional().describe(
          'The current password; admins need not send it.',
        ),
      }),
    ),
  },
  output: { 200: UserAnswer },
  problems: ['forbidden', 'not-found', 'conflict', 'too-many-requests'],
  etag: true,

  async handle({ path: { username }, body }, context) {
    const { accounts, caller, now, sourceIp } = context;
    requireMayChangeAccount(caller, username);
    const { password, current_password } = body;
    const faults: ParameterFault[] = [];
    if (isMadeOfName(password, username))
      faults.push({ in: 'body', name: 'password', message: ofNameMessage });
    if (current_password === undefined && caller.account_type !== 'admin')
      faults.push({ in: 'body', name: 'current_password', message: 'is required' });
    if (faults.length > 0) throw badRequest(faults);
    const credentials = await findCredentials(accounts, username);
    if (credentials === undefined) {
      if ((await findUserId(accounts, username)) === undefined) throw notFound('user', username);
      throw new ServiceError('conflict', `${username} has no password: this account signs in at the issuer.`);
    }
    const { user, hash } = credentials;
    requirePrecondition(context, user.version);
    if (current_password !== undefined) {
      await checkOwnPassword(accounts, { username, hash, password: current_password, sourceIp }, now);
    }
    try {
      return showUser(await setPassword(accounts, user, await hashPassword(password), now().toISOString()));
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      const present = await findUser(accounts, user.user_id);
      if (present === undefined) throw notFound('user', username);
      requirePrecondition(context, present.version);
      const detail = 'The user was changed at the same time. Read the user again and repeat the change.';
      throw new ServiceError('conflict', detail, { cause: error });
    }
  },
});
