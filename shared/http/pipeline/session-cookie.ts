import { createHash } from 'node:crypto';
import type { Settings } from '../../core/settings.ts';
import { type SessionSecrets, sessionSeconds } from '../../data/accounts/session.ts';

/** The parts of a request that decide the cookie's name: its headers, and the deployment that serves it. */
export interface Asked {
  header(name: string): string | undefined;
  settings: Pick<Settings, 'accountsTable'>;
}

/** Whether an `Authorization` is the page's half of a session. */
export const isSession = (authorization: string): boolean => /^session(?: |$)/i.test(authorization);

const scheme = /^session +([A-Za-z0-9_-]{43}) *$/i;

/** Return both halves of the session that a browser presents. */
export function presentedSession(asked: Asked): SessionSecrets | undefined {
  const pageKey = scheme.exec(asked.header('authorization') ?? '')?.[1];
  const cookie = sentCookie(asked);
  return pageKey === undefined || cookie === undefined ? undefined : { cookie, pageKey };
}

/** Return the session cookie that was sent; undefined if there is none, or several, which would be ambiguous. */
function sentCookie(asked: Asked): string | undefined {
  const { name } = cookieOf(asked);
  const found = sentCookies(asked.header('cookie') ?? '', `${name}=`);
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined;
}

/** Return the cookies of a header, or of several that were joined, that begin so: each with its name and value. */
export const sentCookies = (header: string, start: string): string[] =>
  header
    .split(/[;,]/)
    .map((one) => one.trim())
    .filter((one) => one.startsWith(start));

const loopback = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:[a-z0-9-]+\.)*localhost)$/;

/**
 * Return the name and attributes of the cookie that contains a session.
 * - Over https it has the prefix `__Host-`: browsers accept it only from this host, so no other host of the domain
 * can replace it. The rest of the name identifies the deployment, because several may share a host and the prefix
 * forbids a path.
 * - On the loopback address there is no https, and cookies go to all ports of a host, so the name contains the
 * port.
 */
function cookieOf({ header, settings }: Asked): { name: string; attributes: string } {
  const host = URL.parse(`http://${header('host') ?? ''}`);
  const isPlain =
    host !== null && loopback.test(host.hostname) && !/^\s*https\b/i.test(header('x-forwarded-proto') ?? '');
  const attributes = 'Path=/; HttpOnly; SameSite=Strict';
  if (isPlain) return { name: `mps-session-${host.port || '80'}`, attributes };
  const deployment = createHash('sha256')
    .update(settings.accountsTable ?? '')
    .digest('hex')
    .slice(0, 8);
  return { name: `__Host-mps-session-${deployment}`, attributes: `${attributes}; Secure` };
}

/** Return the header that makes a browser keep a session. */
export function keepSession(asked: Asked, cookie: string): { 'Set-Cookie': string } {
  const { name, attributes } = cookieOf(asked);
  return { 'Set-Cookie': `${name}=${cookie}; ${attributes}; Max-Age=${sessionSeconds}` };
}

/** Return the header that makes a browser forget its session. */
export function forgetSession(asked: Asked): { 'Set-Cookie': string } {
  const { name, attributes } = cookieOf(asked);
  return { 'Set-Cookie': `${name}=; ${attributes}; Max-Age=0` };
}
