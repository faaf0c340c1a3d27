import { endpoint as createToken } from '../../../../functions/auth/create-token.endpoint.ts';
import { endpoint as changePassword } from '../../../../functions/users/change-password.endpoint.ts';
import { endpoint as changeUserType } from '../../../../functions/users/change-user-type.endpoint.ts';
import { endpoint as checkUsername } from '../../../../functions/users/check-username.endpoint.ts';
import { endpoint as createUser } from '../../../../functions/users/create-user.endpoint.ts';
import { endpoint as deleteUser } from '../../../../functions/users/delete-user.endpoint.ts';
import { endpoint as listUsers } from '../../../../functions/users/list-users.endpoint.ts';
import type { AccountType } from '../../../../shared/data/accounts/user.ts';
import { pick } from '../../../support/random-choice.ts';
import type { Answer } from '../world/ask.ts';
import { accountRequest, as, type KnownAccounts, type Meanings } from './account-request.ts';
import * as account from './accounts-world.ts';
import type { Ask, Request } from './client.ts';
import type { World } from './world.ts';

const json = { 'Content-Type': 'application/json' };
const passwords = ['correct horse battery', 'staple of the history'];
const types: readonly AccountType[] = ['admin', 'admin', 'developer', 'viewer', 'guest'];

/** Requests about users, each drawn when it is sent. */
export function userRequests(
  ask: Ask,
  world: World<account.Accounts>,
  known: KnownAccounts,
  random: () => number,
): (() => Request | undefined)[] {
  const token = () => pick(random, known.tokens);
  const request = (what: string, meanings: Meanings, send: () => Promise<Answer>) =>
    accountRequest(world, what, meanings, send);
  const name = () => pick(random, known.names);
  const learn = ({ user_id }: { user_id: string }) => void known.ids.add(user_id);

  return [
    () => {
      const [username, account_type, password, by] = [
        name(),
        pick(random, types),
        pick(random, passwords),
        token(),
      ];
      const meanings = as(by, 'admin', {
        201: (user) => {
          learn(user);
          return [[account.created(username, user.user_id, account_type, password)]];
        },
        409: () => [[account.isTaken(username)]],
      });
      const send = () =>
        ask(createUser, {
          headers: json,
          body: JSON.stringify({ username, account_type, password }),
          token: by.bearer,
        });
      return request(`create ${username}`, meanings, send);
    },
    () => {
      const [username, by] = [name(), token()];
      const meanings = as(by, 'admin', {
        200: ({ user_id, account_type }) => [[account.deleted(username, user_id, account_type)]],
        404: () => [[account.isAbsent(username)]],
        409: () => [[account.isLastAdmin(username)]],
      });
      return request(`delete ${username}`, meanings, () =>
        ask(deleteUser, { query: { username }, token: by.bearer }),
      );
    },
    () => {
      const [user_id, account_type, by] = [pick(random, [...known.ids]), pick(random, types), token()];
      const meanings = as(by, 'admin', {
        200: () => [[account.typed(user_id, account_type)]],
        404: () => [[account.hasNoId(user_id)]],
        409: () => [[account.isLastAdminOfId(user_id)]],
      });
      return request(`make ${user_id} ${account_type}`, meanings, () =>
        ask(changeUserType, { path: { user_id }, query: { account_type }, token: by.bearer }),
      );
    },
    () => {
      const [username, password, by] = [name(), pick(random, passwords), token()];
      const meanings = as(by, 'admin', {
        200: ({ user_id }) => [[account.passwordSet(username, user_id, password)]],
        404: () => [[account.isAbsent(username)]],
        // It says that another change came between, and does nothing.
        409: () => [],
      });
      const send = () =>
        ask(changePassword, {
          path: { username },
          headers: json,
          body: JSON.stringify({ password }),
          token: by.bearer,
        });
      // Whoever may not change others is refused by the operation, after `guest` was enough to call it.
      const refused = () => [[account.isNoAdmin(by.bearer)]];
      return request(`password of ${username}`, { ...meanings, 400: refused, 403: refused }, send);
    },
    () => {
      const [username, password] = [name(), pick(random, passwords)];
      const body = JSON.stringify({ grant_type: 'password', username, password });
      const meanings: Meanings = {
        200: ({ user_id, access_token }) => {
          known.tokens.push({ bearer: access_token, user: user_id });
          return [[account.signedIn(username, user_id, password, access_token)]];
        },
        401: () => [[account.isWrongPassword(username, password)]],
        429: () => [],
      };
      return request(`sign in ${username}`, meanings, () => ask(createToken, { headers: json, body }));
    },
    () => {
      const [username, by] = [name(), token()];
      const meanings = as(by, 'admin', {
        200: ({ available }) => [[available ? account.isAbsent(username) : account.isTaken(username)]],
      });
      return request(`check ${username}`, meanings, () =>
        ask(checkUsername, { path: { username }, token: by.bearer }),
      );
    },
    () => {
      const by = token();
      const meanings = as(by, 'viewer', {
        200: (users: { username: string; user_id: string; account_type: AccountType }[]) => [
          known.names.map((one) => {
            const found = users.find(({ username }) => username === one);
            return found === undefined
              ? account.isAbsent(one)
              : account.isUser(one, found.user_id, found.account_type);
          }),
        ],
      });
      return request('users', meanings, () => ask(listUsers, { token: by.bearer }));
    },
  ];
}
