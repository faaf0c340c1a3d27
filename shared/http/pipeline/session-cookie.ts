import { createHash } from 'node:crypto';
import type { Settings } from '../../core/settings.ts';
import { type SessionSecrets, sessionSeconds } from '../../data/accounts/session.ts';

/** What of a request tells which cookie it is about: its headers, and the deployment that it reaches. */
export interface Asked {
  header(name: string): string | undefined;
  settings: Pick<Settings, 'accountsTable'>;
}

const loopback = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:[a-z0-9-]+\.)*localhost)$/;

/**
 * Name and attributes of the cookie that holds a session.
 *
 * - Over https it has the prefix `__Host-`, by which browsers take it from this very host alone: no neighbour on the same
 *   domain can put one of its own in its place. The rest of the name is that of the deployment, of which there may be
 *   several below one domain; the prefix does not leave the path to tell them apart.
 * - On the loopback address there is no https, and cookies of a host go to all its ports, so that the port is in the name.
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

/** The cookie of a session that was sent; undefined without one, and where several are: who knows which is meant. */
function sentCookie(asked: Asked): string | undefined {
  const { name } = cookieOf(asked);
  const found = (asked.header('cookie') ?? '')
    .split(/[;,]/)
    .map((one) => one.trim())
    .filter((one) => one.startsWith(`${name}=`));
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined;
}

const scheme = /^session +([A-Za-z0-9_-]{43}) *$/i;

/** Whether an `Authorization` is the page's half of a session. */
export const isSession = (authorization: string): boolean => /^session(?: |$)/i.test(authorization);

/** Both halves of the session that a browser presents. */
export function presentedSession(asked: Asked): SessionSecrets | undefined {
  const pageKey = scheme.exec(asked.header('authorization') ?? '')?.[1];
  const cookie = sentCookie(asked);
  return pageKey === undefined || cookie === undefined ? undefined : { cookie, pageKey };
}

/** The header that has a browser keep a session. */
export function keepSession(asked: Asked, cookie: string): { 'Set-Cookie': string } {
  const { name, attributes } = cookieOf(asked);
  return { 'Set-Cookie': `${name}=${cookie}; ${attributes}; Max-Age=${sessionSeconds}` };
}

/** The header that has a browser forget its session. */
export function forgetSession(asked: Asked): { 'Set-Cookie': string } {
  const { name, attributes } = cookieOf(asked);
  return { 'Set-Cookie': `${name}=; ${attributes}; Max-Age=0` };
}
