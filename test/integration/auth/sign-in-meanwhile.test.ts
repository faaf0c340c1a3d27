import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { hashPassword } from '../../../shared/accounts/password.ts';
import { signIn } from '../../../shared/accounts/sign-in.ts';
import { setAccountType, setPassword } from '../../../shared/data/accounts/change-user.ts';
import { authenticateToken } from '../../../shared/data/accounts/token.ts';
import { findUser, type User } from '../../../shared/data/accounts/user.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { testService } from '../../support/service.ts';

const password = 'correct horse battery';
const now = () => new Date();

/** Signs in a user to whom `change` happens after the password was checked, just before the token is issued. */
async function signInMeanwhile(change: (accounts: TableWriter<'accounts'>, user: User) => Promise<unknown>) {
  const { accounts, user } = await testService();
  const { user: made } = await user('developer');
  const present = await setPassword(accounts, made, await hashPassword(password), now().toISOString());
  let hasChanged = false;
  const writer: TableWriter<'accounts'> = {
    ...accounts,
    async write(...writes) {
      if (!hasChanged && writes.some((write) => 'put' in write && write.put['record_type'] === 'token')) {
        hasChanged = true;
        await change(accounts, present);
      }
      await accounts.write(...writes);
    },
  };
  const presented = { username: made.username, password, sourceIp: '127.0.0.1' };
  const signing = signIn(writer, presented, { token_id: ulid().toLowerCase(), seconds: 60, now });
  return { accounts, made, signing };
}

test('whose account type changes at the same moment is signed in as what they are now', async () => {
  const change = (accounts: TableWriter<'accounts'>, user: User) => setAccountType(accounts, user, 'viewer');
  const { accounts, made, signing } = await signInMeanwhile(change);
  const { user, bearer } = await signing;
  expect(user).toEqual(await findUser(accounts, made.user_id));
  expect((await authenticateToken(accounts, bearer, now()))?.user.account_type).toBe('viewer');
});

test('whose password is set once more to the same is signed in', async () => {
  const { signing } = await signInMeanwhile(async (accounts, user) =>
    setPassword(accounts, user, await hashPassword(password), now().toISOString()),
  );
  await expect(signing).resolves.toHaveProperty('bearer');
});

test('whose password is changed at the same moment is refused', async () => {
  const { signing } = await signInMeanwhile(async (accounts, user) =>
    setPassword(accounts, user, await hashPassword('another one'), now().toISOString()),
  );
  await expect(signing).rejects.toMatchObject({ kind: 'unauthenticated' });
});
