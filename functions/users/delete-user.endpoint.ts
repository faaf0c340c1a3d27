import * as z from 'zod';
import { forSeconds } from '../../shared/core/deadline.ts';
import { errorText } from '../../shared/core/error-text.ts';
import { notFound } from '../../shared/core/service-error.ts';
import { changeUser, removeUser } from '../../shared/data/accounts/change-user.ts';
import { removeAccounts } from '../../shared/data/accounts/needs.ts';
import { findUserToRemove, Username } from '../../shared/data/accounts/user.ts';
import { writeRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { requirePrecondition } from '../../shared/http/definition/precondition.ts';
import { clearAccount } from '../../shared/purge/clear-account.ts';
import { UserAnswer } from './account.ts';

/** Seconds of the request for the clean-up. The purge removes the rest. */
const clearSeconds = 5;

export const endpoint = defineEndpoint({
  name: 'deleteUser',
  method: 'DELETE',
  path: '/users/',
  summary: 'Delete a user',
  description:
    'The user is signed out at once, and the name is free again. Pictures of the user are removed. Projects stay, without an owner. The last admin cannot be deleted.',
  allow: 'admin',
  audit: { fields: ['username'] },
  needs: { accounts: removeAccounts, records: writeRecords },
  input: { queryOrBody: z.strictObject({ username: Username.describe('Name of the user to delete.') }) },
  work: 'later: a purge',
  output: { 200: UserAnswer },
  problems: ['not-found', 'conflict', 'precondition-failed'],

  async handle({ queryOrBody: { username } }, context) {
    const { accounts, records, now, log, header, expectedVersion } = context;
    const user = await findUserToRemove(accounts, username);
    if (user === undefined) throw notFound('user', username);
    context.noteAudit({ subject: { user_id: user.user_id } });
    const closed_at = now().toISOString();
    const removed = await changeUser(accounts, user, async (present) => {
      requirePrecondition({ header, expectedVersion }, present.version);
      await removeUser(accounts, present, closed_at);
      return present;
    });
    try {
      const closed = { user_id: user.user_id, closed_at };
      await clearAccount({ accounts, records }, closed, forSeconds(clearSeconds), now());
    } catch (error) {
      // The user is deleted; the purge cleans up the rest.
      log.warn('clear-later', {
        user_id: user.user_id,
        error: errorText(error),
      });
    }
    return removed;
  },
});
