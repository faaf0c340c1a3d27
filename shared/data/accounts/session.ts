import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { Sha256, Timestamp, Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import {
  type Key,
  type Page,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';
import { isAlive, type TokenOwner } from './token.ts';
import { parseUser, type User, userKey, userPartition } from './user.ts';

const session = recordType('session', () =>
  z.object({
    session_id: Ulid,
    user_id: Ulid,
    /** SHA-256 of the cookie's secret together with the page's key. */
    hash: Sha256,
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires_at: Timestamp,
    /** Epoch seconds after which DynamoDB may remove the item. */
    ttl: z.number().int(),
    credentials_version: z.number().int(),
    /** `User-Agent` header of the last use. */
    user_agent: z.string(),
    /** Client address of the last use. */
    address: z.string(),
    /** Time that no use extends: its user must sign in again at the issuer. Absent for sign-ins with a password. */
    ends_at: Timestamp.optional(),
  }),
);
export type Session = z.infer<typeof session.schema>;

/** Lifetime of a session after its last use, in seconds. */
export const sessionSeconds = 30 * 24 * 60 * 60;

/** Maximum sessions of one user. A new session replaces the least recently used one. */
export const maxSessions = 50;

/** Two halves of a browser's secret. Neither works without the other. */
export interface SessionSecrets {
  /** Value of the cookie. Browsers hide it from scripts and send it to every port of the host. */
  cookie: string;
  /**
   * Key that the page itself stores and sends. Browsers show it only to pages of the same origin, which includes
   * the port.
   */
  pageKey: string;
}

interface NewSession {
  session_id: string;
  now: Date;
  use: Use;
  /** Seconds after which it ends, however often it is used. */
  maxSeconds?: number;
}

/** Client of a session's use. */
export interface Use {
  user_agent: string;
  address: string;
}

/**
 * Begin a session. Only this result contains its secrets. The secrets are always new and never come from the
 * browser.
 * @throws ConditionFailedError if the owner is gone or has other credentials
 */
export async function beginSession(
  accounts: TableWriter<'accounts'>,
  owner: TokenOwner,
  { session_id, now, use, maxSeconds }: NewSession,
): Promise<SessionSecrets & { session: Session }> {
  const { user_id, credentials_version } = owner;
  const ends_at =
    maxSeconds === undefined ? undefined : new Date(now.getTime() + maxSeconds * 1000).toISOString();
  const secret = newSecret();
  const pageKey = newSecret();
  const begun: Session = {
    session_id,
    user_id,
    hash: digest(secret, pageKey),
    created_at: now.toISOString(),
    credentials_version,
    ...useOf(use, now, ends_at),
    ...(ends_at !== undefined && { ends_at }),
  };
  await accounts.write(
    { check: userKey(user_id), if: { equals: { credentials_version } } },
    { put: session.item(sessionKey(user_id, session_id), begun), if: { exists: false } },
    ...makingRoom(await allSessions(accounts, user_id), owner, now).map(removal),
  );
  return { cookie: `${user_id}.${session_id}.${secret}`, pageKey, session: begun };
}

const newSecret = (): string => randomBytes(32).toString('base64url');

/** Return the stored digest of both halves. They have 512 random bits, so a plain hash is enough. */
const digest = (secret: string, pageKey: string): string =>
  createHash('sha256').update(`${secret}.${pageKey}`).digest('hex');

const useOf = ({ user_agent, address }: Use, now: Date, ends_at: string | undefined) => {
  const unused = now.getTime() + sessionSeconds * 1000;
  const expires = new Date(ends_at === undefined ? unused : Math.min(unused, Date.parse(ends_at)));
  return {
    user_agent: user_agent.slice(0, maxUserAgent),
    address,
    last_used_at: now.toISOString(),
    expires_at: expires.toISOString(),
    ttl: Math.ceil(expires.getTime() / 1000),
  };
};

const maxUserAgent = 400;

const sessionKey = (user_id: string, session_id: string): Key => ({
  pk: userPartition(user_id),
  sk: `${prefix}${session_id}`,
});

const prefix = 'SESSION#';

/**
 * Return the sessions to remove when another begins: invalid ones, and the least recently used ones beyond the
 * limit.
 */
function makingRoom(sessions: readonly Session[], owner: TokenOwner, now: Date): Session[] {
  const alive = sessions
    .filter((one) => isAlive(one, owner, now))
    .sort((a, b) => b.last_used_at.localeCompare(a.last_used_at));
  const kept = new Set(alive.slice(0, maxSessions - 1));
  return sessions.filter((one) => !kept.has(one)).slice(0, 90);
}

async function allSessions(accounts: TableReader<'accounts'>, user_id: string): Promise<Session[]> {
  // This limit exceeds the maximum, because a few sessions may begin at the same moment.
  const found = await accounts.query({ pk: userPartition(user_id), prefix, limit: 2 * maxSessions });
  return readPage(found, session.parse).items;
}

const removal = ({ user_id, session_id }: Pick<Session, 'user_id' | 'session_id'>): Write => ({
  delete: sessionKey(user_id, session_id),
});

/**
 * Return the user and the session that a browser presents, with one read. Return undefined if the session is
 * malformed, invalid or unknown.
 */
export async function authenticateSession(
  accounts: TableReader<'accounts'>,
  { cookie, pageKey }: SessionSecrets,
  now: Date,
): Promise<{ user: User; session: Session } | undefined> {
  const [, user_id, session_id, secret] = cookiePattern.exec(cookie) ?? [];
  if (user_id === undefined || session_id === undefined || secret === undefined) return undefined;
  const [userItem, item] = await accounts.batchGet([userKey(user_id), sessionKey(user_id, session_id)]);
  if (userItem === undefined || item === undefined) return undefined;
  const user = parseUser(userItem);
  const found = session.parse(item);
  const isRight = timingSafeEqual(Buffer.from(found.hash), Buffer.from(digest(secret, pageKey)));
  return isRight && isAlive(found, user, now) ? { user, session: found } : undefined;
}

const ulid = '[0-7][0-9a-hjkmnp-tv-z]{25}';
const cookiePattern = new RegExp(`^(${ulid})\\.(${ulid})\\.([A-Za-z0-9_-]{43})$`);

/**
 * Record the use of a session, which extends it. Return undefined if it has ended. Write only if the recorded use
 * is some minutes old or came from another client.
 */
export async function extendSession(
  accounts: TableWriter<'accounts'>,
  { user_id, session_id }: Pick<Session, 'user_id' | 'session_id'>,
  use: Use,
  now: Date,
): Promise<Session | undefined> {
  const key = sessionKey(user_id, session_id);
  const item = await accounts.get(key);
  if (item === undefined) return undefined;
  const found = session.parse(item);
  const next = useOf(use, now, found.ends_at);
  const isRecent = now.getTime() - Date.parse(found.last_used_at) < noteMilliseconds;
  if (isRecent && found.address === next.address && found.user_agent === next.user_agent) return found;
  const update: Write = {
    update: key,
    change: { set: next },
    if: { equals: { last_used_at: found.last_used_at } },
  };
  if (await tryWrite(accounts.write(update))) return { ...found, ...next };
  const present = await accounts.get(key);
  return present && session.parse(present);
}

/**
 * Minimum age of the recorded use before a new one is recorded, in milliseconds. So a page in constant use writes
 * little.
 */
const noteMilliseconds = 10 * 60 * 1000;

/** Return a page of a user's valid sessions, newest first. */
export async function listSessions(
  accounts: TableReader<'accounts'>,
  owner: TokenOwner,
  now: Date,
  page: { limit: number; after: string | undefined },
): Promise<Page<Session>> {
  const found = await accounts.query({
    pk: userPartition(owner.user_id),
    prefix,
    descending: true,
    limit: page.limit,
    after: page.after === undefined ? undefined : `${prefix}${page.after}`,
  });
  const sessions = readPage(found, session.parse);
  return {
    ...sessions,
    items: sessions.items.filter((item) => isAlive(item, owner, now)),
    next: found.next?.slice(prefix.length),
  };
}

/** End a session at once, even if it is unreadable. Return false if it does not exist. */
export async function endSession(
  accounts: TableWriter<'accounts'>,
  user_id: string,
  session_id: string,
): Promise<boolean> {
  const key = sessionKey(user_id, session_id);
  if ((await accounts.get(key)) === undefined) return false;
  await accounts.write({ delete: key });
  return true;
}

/** End all sessions of a user at once, including unreadable ones. Return their number. */
export async function endAllSessions(accounts: TableWriter<'accounts'>, user_id: string): Promise<number> {
  let count = 0;
  for (;;) {
    const { items, next } = await accounts.query({ pk: userPartition(user_id), prefix, limit: 99 });
    if (items.length > 0) await accounts.write(...items.map(({ pk, sk }): Write => ({ delete: { pk, sk } })));
    count += items.length;
    if (next === undefined) return count;
  }
}
