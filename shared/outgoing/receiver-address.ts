import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The address of a receiver is refused, or its name has none. The message is a sentence about it for people. */
export class ReceiverError extends Error {
  override readonly name = 'ReceiverError';
}

/** Address that a connection is pinned to. */
export interface ReceiverAddress {
  address: string;
  family: 4 | 6;
}

/** Return all addresses of a name, as the system's resolver does. */
export type Resolve = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true });

/** Variable in which the operator admits receivers of this machine or network. */
export type AdmittingVariable = 'HOOK_HOSTS' | 'ISSUER_HOSTS';

/**
 * Resolve the host of a URL that a user has given once, and return the address to connect to. Requests leave from a
 * network that may reach more than the user does, so every address of the name must be public.
 * @param admitted receivers of this machine or network as `host:port`, which may have any address
 * @param variable names them
 * @throws ReceiverError
 */
export async function receiverAddress(
  url: URL,
  admitted: readonly string[],
  resolve: Resolve = resolveBySystem,
  variable?: AdmittingVariable,
): Promise<ReceiverAddress> {
  const fault = faultOfUrl(url, admitted, variable);
  if (fault !== undefined) throw new ReceiverError(`The URL ${fault}.`);
  const hostname = bareHost(url);
  const literal = isIP(hostname);
  const found = literal === 0 ? await resolved(hostname, resolve) : [{ address: hostname, family: literal }];
  const refused = found.find(({ address }) => !isPublic(address));
  if (refused !== undefined && !isAdmitted(url, admitted))
    throw new ReceiverError(`The name ${hostname} has the address ${refused.address}, which is not public.`);
  const [first] = found;
  if (first === undefined) throw new ReceiverError(`The name ${hostname} has no address.`);
  return { address: first.address, family: first.family === 6 ? 6 : 4 };
}

async function resolved(hostname: string, resolve: Resolve) {
  try {
    return await resolve(hostname);
  } catch {
    throw new ReceiverError(`The name ${hostname} cannot be resolved.`);
  }
}

/**
 * Return what is wrong with a URL that a user has given, as far as the URL alone shows it. Undefined if nothing is. What
 * its name resolves to is checked with each request, because it may change.
 */
export function urlFault(
  text: string,
  admitted: readonly string[],
  variable?: AdmittingVariable,
): string | undefined {
  const url = URL.parse(text);
  return url === null ? 'is not a URL' : faultOfUrl(url, admitted, variable);
}

function faultOfUrl(
  url: URL,
  admitted: readonly string[],
  variable: AdmittingVariable = 'HOOK_HOSTS',
): string | undefined {
  if (url.username !== '' || url.password !== '')
    return 'must not contain a user name or password; put a token into its path or query';
  if (isAdmitted(url, admitted)) return undefined;
  if (url.protocol !== 'https:')
    return `must begin with https://, or name one of ${variable}, receivers of this machine or network that the operator admits as host:port: ${admitted.join(', ') || 'none yet'}`;
  const hostname = bareHost(url);
  const isLocal = isIP(hostname) === 0 ? localName.test(hostname) : !isPublic(hostname);
  return isLocal
    ? `names ${hostname}, which is not a public ${isIP(hostname) === 0 ? 'name' : 'address'}; the operator admits such receivers as host:port in ${variable}`
    : undefined;
}

/** Names of a machine or network (RFC 6761, 6762, 8375, and `internal`), and names without a domain. */
const localName = /(?:^|\.)(?:localhost|local|internal|home\.arpa)\.?$|^[^.]+\.?$/i;

const isAdmitted = (url: URL, admitted: readonly string[]): boolean =>
  (url.protocol === 'https:' || url.protocol === 'http:') && admitted.includes(hostAndPort(url));

/** Return the host and port of a URL, such as `hooks.slack.com:443`. */
const hostAndPort = (url: URL): string =>
  `${url.hostname}:${url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : url.port}`;

/** Return the host name of a URL, an IPv6 address without its brackets. */
export const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * Whether an address is one of the public internet. Addresses of IPv6 that carry an IPv4 address (mapped, NAT64, 6to4,
 * Teredo) are not.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  // Global unicast addresses of IPv6 are all in this block; deprecated forms of IPv4 addresses are not.
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(globalUnicast);
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
