import { endpoint as createNamedToken } from '../../../../functions/auth/create-named-token.endpoint.ts';
import { endpoint as deleteToken } from '../../../../functions/auth/delete-token.endpoint.ts';
import { endpoint as listTokens } from '../../../../functions/auth/list-tokens.endpoint.ts';
import { endpoint as revokeToken } from '../../../../functions/auth/revoke-token.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../../functions/users/read-own-account.endpoint.ts';
import { pick } from '../../../support/random-choice.ts';
import type { Answer } from '../world/ask.ts';
import { accountRequest, as, type KnownAccounts, type Meanings } from './account-request.ts';
import * as account from './accounts-world.ts';
import type { Ask, Request } from './client.ts';
import type { World } from './world.ts';

const json = { 'Content-Type': 'application/json' };

/** Requests about tokens, each drawn when it is sent. */
export function tokenRequests(
  ask: Ask,
  world: World<account.Accounts>,
  known: KnownAccounts,
  random: () => number,
): (() => Request | undefined)[] {
  const token = () => pick(random, known.tokens);
  const request = (what: string, meanings: Meanings, send: () => Promise<Answer>) =>
    accountRequest(world, what, meanings, send);

  return [
    () => {
      const by = token();
      const meanings = as(by, 'guest', {
        201: ({ token_id, access_token: bearer }) => {
          known.tokens.push({ bearer, user: by.user, token_id });
          return [[account.tokenIssued(by.bearer, bearer)]];
        },
        409: () => [[account.hasOtherCredentials(by.bearer)]],
      });
      return request(`token for a script of ${by.user}`, meanings, () =>
        ask(createNamedToken, { headers: json, body: '{"name":"script"}', token: by.bearer }),
      );
    },
    () => {
      const target = token();
      const by = pick(
        random,
        known.tokens.filter(({ user }) => user === target.user),
      );
      const { token_id, bearer, user } = target;
      if (token_id === undefined) return undefined;
      const meanings = as(by, 'guest', {
        200: () => [[account.wasThere(bearer)], [account.revoked(bearer)]],
        404: () => [[account.isGone(bearer, user)]],
      });
      return request(`revoke ${token_id}`, meanings, () =>
        ask(revokeToken, { path: { token_id }, token: by.bearer }),
      );
    },
    () => {
      const by = token();
      if (by.token_id === undefined) return undefined;
      const meanings = as(by, 'guest', { 200: () => [[account.revoked(by.bearer)]] });
      return request(`sign out ${by.user}`, meanings, () => ask(deleteToken, { token: by.bearer }));
    },
    () => {
      const by = token();
      const own = known.tokens.filter(({ user, token_id }) => user === by.user && token_id !== undefined);
      const meanings = as(by, 'guest', {
        200: (listed: { token_id: string }[]) => {
          const ids = new Set(listed.map(({ token_id }) => token_id));
          const checks = own.map(({ bearer, token_id = '' }) =>
            account.isListed(by.bearer, bearer, by.user, ids.has(token_id)),
          );
          return [checks];
        },
      });
      return request(`tokens of ${by.user}`, meanings, () => ask(listTokens, { token: by.bearer }));
    },
    () => {
      const by = token();
      const meanings = as(by, 'guest', {
        200: ({ username, user_id, account_type }) => [[account.isUser(username, user_id, account_type)]],
        404: () => [[account.hasNoId(by.user)]],
      });
      return request(`me, ${by.user}`, meanings, () => ask(readOwnAccount, { token: by.bearer }));
    },
  ];
}
