import { type AccountType, accountTypes } from '../../../../shared/data/accounts/user.ts';
import { type Apply, looking } from './linearize.ts';

/** All that depends on one another among users: the rule about the last admin joins them. */
export interface Accounts {
  /** By name. `credentials` counts what ends every token. */
  users: Readonly<Record<string, { id: string; type: AccountType; credentials: number; password: string }>>;
  /** By bearer, also those that were revoked. */
  tokens: Readonly<Record<string, { user: string; credentials: number; isRevoked: boolean }>>;
}

const check = looking<Accounts>;

const ofId = ({ users }: Accounts, id: string) => Object.entries(users).find(([, user]) => user.id === id);
const admins = ({ users }: Accounts) => Object.values(users).filter(({ type }) => type === 'admin').length;
const withUser = (state: Accounts, name: string, user: Accounts['users'][string]): Accounts => ({
  ...state,
  users: { ...state.users, [name]: user },
});

/** What becomes of a request with this token: passed with at least this type, or 401, or 403. */
export const authenticated = (bearer: string, least: AccountType, status: number): Apply<Accounts> =>
  check((state) => {
    const token = state.tokens[bearer];
    const [, user] = token === undefined ? [] : (ofId(state, token.user) ?? []);
    const isGood = user !== undefined && token?.isRevoked === false && token.credentials === user.credentials;
    if (status === 401) return !isGood;
    const isEnough = isGood && accountTypes.indexOf(user.type) >= accountTypes.indexOf(least);
    return status === 403 ? isGood && !isEnough : isEnough;
  });

export const isNoAdmin = (bearer: string) => authenticated(bearer, 'admin', 403);

export const isTaken = (name: string) => check(({ users }) => users[name] !== undefined);
export const isAbsent = (name: string) => check(({ users }) => users[name] === undefined);
export const hasNoId = (id: string) => check((state) => ofId(state, id) === undefined);
export const isUser = (name: string, id: string, type: AccountType) =>
  check(({ users }) => users[name]?.id === id && users[name].type === type);
export const isLastAdmin = (name: string) =>
  check((state) => state.users[name]?.type === 'admin' && admins(state) === 1);

export const isLastAdminOfId = (id: string) =>
  check((state) => ofId(state, id)?.[1].type === 'admin' && admins(state) === 1);

/** It is the name that must be free. */
export const created =
  (name: string, id: string, type: AccountType, password: string): Apply<Accounts> =>
  (state) =>
    state.users[name] === undefined
      ? withUser(state, name, { id, type, credentials: 1, password })
      : undefined;

export const deleted =
  (name: string, id: string, type: AccountType): Apply<Accounts> =>
  (state) => {
    const { [name]: user, ...users } = state.users;
    if (user?.id !== id || user.type !== type) return undefined;
    return type === 'admin' && admins(state) === 1 ? undefined : { ...state, users };
  };

export const typed =
  (id: string, type: AccountType): Apply<Accounts> =>
  (state) => {
    const [name, user] = ofId(state, id) ?? [];
    if (name === undefined || user === undefined) return undefined;
    if (user.type === type) return state;
    if (user.type === 'admin' && admins(state) === 1) return undefined;
    return withUser(state, name, { ...user, type, credentials: user.credentials + 1 });
  };

export const passwordSet =
  (name: string, id: string, password: string): Apply<Accounts> =>
  (state) => {
    const user = state.users[name];
    if (user?.id !== id) return undefined;
    return withUser(state, name, { ...user, password, credentials: user.credentials + 1 });
  };

const withToken = (state: Accounts, bearer: string, user: string, credentials: number): Accounts => ({
  ...state,
  tokens: { ...state.tokens, [bearer]: { user, credentials, isRevoked: false } },
});

export const signedIn =
  (name: string, id: string, password: string, bearer: string): Apply<Accounts> =>
  (state) => {
    const user = state.users[name];
    return user?.id === id && user.password === password
      ? withToken(state, bearer, id, user.credentials)
      : undefined;
  };

export const isWrongPassword = (name: string, password: string) =>
  check(({ users }) => users[name]?.password !== password);

/** Whether the credentials of the token `by` are still those of its user, whether or not it was revoked. */
const isCurrent = (state: Accounts, by: string): boolean => {
  const token = state.tokens[by];
  return token !== undefined && ofId(state, token.user)?.[1].credentials === token.credentials;
};

/** A token is made for a script by who sent the token `by`. */
export const tokenIssued =
  (by: string, bearer: string): Apply<Accounts> =>
  (state) => {
    const token = state.tokens[by];
    if (token === undefined || !isCurrent(state, by)) return undefined;
    return withToken(state, bearer, token.user, token.credentials);
  };

export const hasOtherCredentials = (by: string) => check((state) => !isCurrent(state, by));

export const revoked =
  (bearer: string): Apply<Accounts> =>
  (state) => {
    const token = state.tokens[bearer];
    if (token === undefined || token.isRevoked) return state;
    return { ...state, tokens: { ...state.tokens, [bearer]: { ...token, isRevoked: true } } };
  };

const isKept = (state: Accounts, bearer: string): boolean => state.tokens[bearer]?.isRevoked === false;

export const wasThere = (bearer: string) => check((state) => isKept(state, bearer));

/** Not there: revoked, not issued yet, or cleared away with its user. */
export const isGone = (bearer: string, user: string) =>
  check((state) => !isKept(state, bearer) || ofId(state, user) === undefined);

/** What the list of the user who sent `by` says of another token of theirs. */
export const isListed = (by: string, bearer: string, user: string, isThere: boolean) =>
  check((state) => {
    const isGood =
      isKept(state, bearer) && state.tokens[bearer]?.credentials === state.tokens[by]?.credentials;
    return isThere ? isGood : !isGood || ofId(state, user) === undefined;
  });
