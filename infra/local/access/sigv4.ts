import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** Return the signature (hex) of a request at `timestamp` (`yyyymmddThhmmssZ`). */
export function requestSignature(
  key: KeyObject,
  timestamp: string,
  scope: Scope,
  parts: SignedParts,
): string {
  const canonical = sha256Hex(Buffer.from(canonicalRequest(parts), 'latin1'));
  return hmac(key, [algorithm, timestamp, scopeText(scope), canonical].join('\n')).toString('hex');
}

/** Scope of a signature: `yyyymmdd/region/service/aws4_request`. */
export interface Scope {
  day: string;
  region: string;
  service: string;
}

interface SignedParts {
  method: string;
  /** Decoded path. */
  path: string;
  /** Decoded query without the signature itself. */
  query: ReadonlyMap<string, string>;
  headers: ReadonlyMap<string, string>;
  signedHeaders: readonly string[];
  payloadHash: string;
}

/** Return the SHA-256 digest as lower-case hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function canonicalRequest(parts: SignedParts): string {
  const query = [...parts.query]
    .map(([name, value]) => [encodeUri(name), encodeUri(value)] as const)
    .sort((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  const names = [...parts.signedHeaders].sort();
  const headers = names.map((name) => `${name}:${(parts.headers.get(name) ?? '').replace(/ +/g, ' ')}\n`);
  return [
    parts.method,
    encodePath(parts.path),
    query,
    headers.join(''),
    names.join(';'),
    parts.payloadHash,
  ].join('\n');
}

/** Percent-encode everything but `A-Za-z0-9-._~`, as SigV4 and `encoding-type=url` define it. */
function encodeUri(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Percent-encode a path or key, and keep its slashes. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeUri).join('/');
}

function hmac(key: string | Buffer | KeyObject, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

export const algorithm = 'AWS4-HMAC-SHA256';

function scopeText({ day, region, service }: Scope): string {
  return `${day}/${region}/${service}/aws4_request`;
}

/** Maximum difference between the clocks of client and server, in milliseconds. */
export const maxClockSkew = 15 * 60 * 1000;

/** Parse `yyyymmddThhmmssZ` to milliseconds since the epoch. Return undefined for anything else. */
export function parseTimestamp(text: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Cached keys by secret and scope. A server uses the same few keys, and deriving a key takes most of the time of a
 * signature check.
 */
const known = new Map<string, KeyObject>();

const maxKnown = 1000;

/** Derive the key of one day, region and service as Signature Version 4 specifies. */
export function signingKey(secret: string, scope: Scope): KeyObject {
  const name = `${scopeText(scope)} ${secret}`;
  const found = known.get(name);
  if (found !== undefined) return found;
  const day = hmac(`AWS4${secret}`, scope.day);
  const key = createSecretKey(hmac(hmac(hmac(day, scope.region), scope.service), 'aws4_request'));
  if (known.size >= maxKnown) known.clear();
  known.set(name, key);
  return key;
}

/** Return the signature (hex) of one chunk or of the trailer, chained to the previous signature. */
export function chainedSignature(
  key: KeyObject,
  kind: 'PAYLOAD' | 'TRAILER',
  timestamp: string,
  scope: Scope,
  previous: string,
  contentHash: string,
): string {
  const lines = [`${algorithm}-${kind}`, timestamp, scopeText(scope), previous];
  if (kind === 'PAYLOAD') lines.push(sha256Hex(''));
  return hmac(key, [...lines, contentHash].join('\n')).toString('hex');
}

/** Compare two signatures in constant time. */
export function sameSignature(expected: string, given: string): boolean {
  const left = Buffer.from(expected);
  const right = Buffer.from(given);
  return left.length === right.length && timingSafeEqual(left, right);
}
