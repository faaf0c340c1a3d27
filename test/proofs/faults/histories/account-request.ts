import type { AccountType } from '../../../../shared/data/accounts/user.ts';
import type { Answer } from '../world/ask.ts';
import { type Accounts, authenticated } from './accounts-world.ts';
import type { Request } from './client.ts';
import type { Apply } from './linearize.ts';
import type { Span, World } from './world.ts';

export interface KnownToken {
  bearer: string;
  user: string;
  /** Undefined for one of a sign-in. */
  token_id?: string;
}

/** What the clients of a history know of users and tokens, from their answers. */
export interface KnownAccounts {
  names: readonly string[];
  ids: Set<string>;
  tokens: KnownToken[];
}

type Stages = readonly (readonly Apply<Accounts>[])[];
/** What each status says; one that is missing cannot be. */
export type Meanings = Readonly<Record<number, (json: Answer['json']) => Stages>>;

export const accountRequest = (
  world: World<Accounts>,
  what: string,
  meanings: Meanings,
  send: () => Promise<Answer>,
): Request => ({
  what,
  send,
  note({ status, json }: Answer, span: Span) {
    const meaning = meanings[status];
    if (meaning === undefined) return false;
    world.note(span, `${what} → ${status} ${json?.detail ?? ''}`, ...meaning(json));
    return true;
  },
});
/** A request with a token, which may be good no more or not enough. */
export const as = (by: KnownToken, least: AccountType, meanings: Meanings): Meanings => {
  const passed = Object.entries(meanings).map(([status, meaning]) => [
    status,
    (json: Answer['json']) => [[authenticated(by.bearer, least, 200)], ...meaning(json)],
  ]);
  const refused = [401, 403].map((status) => [status, () => [[authenticated(by.bearer, least, status)]]]);
  return Object.fromEntries([...passed, ...refused]);
};
