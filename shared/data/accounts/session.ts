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
    /** Epoch seconds after which the store may remove the item. */
    ttl: z.number().int(),
    credentials_version: z.number().int(),
    /** What the browser said of itself at the last use. */
    user_agent: z.string(),
    /** Where the last use came from. */
    address: z.string(),
  }),
);
export type Session = z.infer<typeof session.schema>;

/** How long a session lives after its last use, in seconds. */
export const sessionSeconds = 30 * 24 * 60 * 60;

/** Most sessions of one user. The one that was not used for longest makes room for another. */
export const maxSessions = 50;

/** The two halves of what a browser holds. Neither is worth anything without the other. */
export interface SessionSecrets {
  /** Value of the cookie. Browsers hide it from scripts, and send it to every port of the host. */
  cookie: string;
  /** What the page itself keeps and sends. Browsers show it to pages of the same origin alone, which includes the port. */
  pageKey: string;
}

/** Who uses a session, and from where. */
export interface Use {
  user_agent: string;
  address: string;
}

/**
 * Begins a session; only this answer ever holds its secrets. Nothing that a browser had before becomes part of it.
 * @throws ConditionFailedError once the owner is gone or has other credentials
 */
export async function beginSession(
  accounts: TableWriter<'accounts'>,
  owner: TokenOwner,
  { session_id, now, use }: { session_id: string; now: Date; use: Use },
): Promise<SessionSecrets & { session: Session }> {
  const { user_id, credentials_version } = owner;
  const secret = newSecret();
  const pageKey = newSecret();
  const begun: Session = {
    session_id,
    user_id,
    hash: digest(secret, pageKey),
    created_at: now.toISOString(),
    credentials_version,
    ...useOf(use, now),
  };
  await accounts.write(
    { check: userKey(user_id), if: { equals: { credentials_version } } },
    { put: session.item(sessionKey(user_id, session_id), begun), if: { exists: false } },
    ...makingRoom(await allSessions(accounts, user_id), owner, now).map(removal),
  );
  return { cookie: `${user_id}.${session_id}.${secret}`, pageKey, session: begun };
}

const newSecret = (): string => randomBytes(32).toString('base64url');

/** Digest by which both halves are stored; they have 512 random bits, so a plain hash is enough. */
const digest = (secret: string, pageKey: string): string =>
  createHash('sha256').update(`${secret}.${pageKey}`).digest('hex');

const useOf = ({ user_agent, address }: Use, now: Date) => {
  const expires = new Date(now.getTime() + sessionSeconds * 1000);
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

/** Sessions that go when another begins: dead ones, and those that were not used for longest where there is no room. */
function makingRoom(sessions: readonly Session[], owner: TokenOwner, now: Date): Session[] {
  const alive = sessions
    .filter((one) => isAlive(one, owner, now))
    .sort((a, b) => b.last_used_at.localeCompare(a.last_used_at));
  const kept = new Set(alive.slice(0, maxSessions - 1));
  return sessions.filter((one) => !kept.has(one)).slice(0, 90);
}

async function allSessions(accounts: TableReader<'accounts'>, user_id: string): Promise<Session[]> {
  // More than there can be, but for a few that were begun at the same moment.
  const found = await accounts.query({ pk: userPartition(user_id), prefix, limit: 2 * maxSessions });
  return readPage(found, session.parse).items;
}

const removal = ({ user_id, session_id }: Pick<Session, 'user_id' | 'session_id'>): Write => ({
  delete: sessionKey(user_id, session_id),
});

/** The user and the session that a browser presents, by one read; undefined for one that is malformed, dead or unknown. */
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
 * Notes that a session is used, which makes it live on; undefined once it has ended. It writes only where the use that
 * is noted is some minutes old or was somewhere else.
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
  const next = useOf(use, now);
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

/** A use is noted where the one that is noted is older, in milliseconds: a page that is used all day writes little. */
const noteMilliseconds = 10 * 60 * 1000;

/** A user's sessions that are good, the newest first. */
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
    items: sessions.items.filter((one) => isAlive(one, owner, now)),
    next: found.next?.slice(prefix.length),
  };
}

/** Ends a session at once; false where there is none. It may be unreadable. */
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

/** Ends all sessions of a user at once, unreadable ones too. Answers how many there were. */
export async function endAllSessions(accounts: TableWriter<'accounts'>, user_id: string): Promise<number> {
  let count = 0;
  for (;;) {
    const { items, next } = await accounts.query({ pk: userPartition(user_id), prefix, limit: 100 });
    if (items.length > 0) await accounts.write(...items.map(({ pk, sk }): Write => ({ delete: { pk, sk } })));
    count += items.length;
    if (next === undefined) return count;
  }
}
