import { createHash } from 'node:crypto';
import { pendingSeconds } from '../../../shared/accounts/oidc/pending-sign-in.ts';
import { sentCookies } from '../../../shared/http/pipeline/session-cookie.ts';

/** Sign-ins of a browser that are kept at once. A page that opens more replaces one, so that requests stay short. */
const maxPending = 8;

/** Cookies go to all ports of a host, and several deployments may share one: the name has a digest of the own URL. */
const prefixOf = (ownUrl: string): string => {
  const secure = ownUrl.startsWith('https:') ? '__Host-' : '';
  return `${secure}mps-sign-in-${digest(ownUrl)}-`;
};

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** Return the cookies of sign-ins that a browser has sent, as pairs of name and value. */
const pendingCookies = (header: string, ownUrl: string): (readonly [name: string, value: string])[] =>
  sentCookies(header, prefixOf(ownUrl))
    .slice(0, 2 * maxPending)
    .map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)] as const);

/** Return the sealed sign-ins that a browser has sent. */
export const sentSignIns = (header: string, ownUrl: string): string[] =>
  pendingCookies(header, ownUrl).map(([, sealed]) => sealed);

/**
 * Return the header that makes a browser keep a sign-in until it comes back. Each tab has a cookie of its own.
 * @param header cookies that it has sent
 */
export function keepSignIn(header: string, ownUrl: string, state: string, sealed: string): string {
  const sent = pendingCookies(header, ownUrl);
  const [oldest] = sent[0] ?? [];
  const name =
    sent.length >= maxPending && oldest !== undefined ? oldest : `${prefixOf(ownUrl)}${digest(state)}`;
  const secure = ownUrl.startsWith('https:') ? '; Secure' : '';
  return `${name}=${sealed}; Path=/; HttpOnly; SameSite=Lax${secure}; Max-Age=${pendingSeconds}`;
}
