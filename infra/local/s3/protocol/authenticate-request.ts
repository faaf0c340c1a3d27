import type { KeyObject } from 'node:crypto';
import type { Statement } from '../../../service/iam-statements.ts';
import type { Session, SessionReader } from '../../access/session-credentials.ts';
import {
  algorithm,
  chainedSignature,
  maxClockSkew,
  parseTimestamp,
  requestSignature,
  type Scope,
  sameSignature,
  signingKey,
} from '../../access/sigv4.ts';
import { S3Error, type S3ErrorCode } from './s3-error.ts';
import type { S3Request } from './s3-request.ts';

/**
 * Verify the Signature Version 4 of a request, in its Authorization header or its query.
 * @throws S3Error AccessDenied, SignatureDoesNotMatch, and S3's other authentication errors
 */
export function authenticateRequest(request: S3Request, authority: Authority): Authenticated {
  const authorization = request.headers.get('authorization');
  const presigned = request.query.has('X-Amz-Signature') || request.query.has('X-Amz-Algorithm');
  if (authorization !== undefined && presigned) {
    throw new S3Error('InvalidArgument', 'Only one auth mechanism allowed.');
  }
  const token = request.headers.get('x-amz-security-token') ?? request.query.get('X-Amz-Security-Token');
  const session = token === undefined ? undefined : authority.sessions.read(token);
  if (token !== undefined && session === undefined) {
    throw new S3Error('InvalidToken', 'The provided token is malformed or otherwise invalid.');
  }
  const verified = verify(request, authorization, presigned, actingAs(authority, session));
  if (token !== undefined && session !== undefined) authority.sessions.keep(token, session);
  return { ...verified, role: session?.statements };
}

export interface Authority {
  credentials: S3Credentials;
  /** Reads sessions of these credentials. */
  sessions: SessionReader;
  region: string;
}

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Facts from a verified signature. */
export interface Authenticated {
  /** Effective headers: those received, and `x-amz-*` headers in the query of a presigned URL. */
  headers: ReadonlyMap<string, string>;
  payload: Payload;
  /** Permissions of the request's role; undefined for the owner. */
  role: readonly Statement[] | undefined;
}

/** How the signature covers the body: not at all, by its hash, or in chunks, which may be signed. */
type Payload =
  | { kind: 'unsigned' }
  | { kind: 'hashed'; sha256: string }
  | { kind: 'chunked'; trailer: boolean; chain: ChunkChain | undefined };

/** Check the signatures of chunks. Each is chained to the previous one. */
export interface ChunkChain {
  chunk(contentSha256: string, signature: string): void;
  trailer(contentSha256: string, signature: string): void;
}

function verify(
  request: S3Request,
  authorization: string | undefined,
  presigned: boolean,
  authority: Authority,
): Verified {
  if (presigned) return verifyQuery(request, authority);
  if (authorization !== undefined) return verifyHeader(request, authorization, authority);
  throw new S3Error('AccessDenied', 'Access Denied');
}

type Verified = Omit<Authenticated, 'role'>;

const maxExpiresSeconds = 7 * 24 * 3600;

function verifyQuery(request: S3Request, authority: Authority): Verified {
  const malformed = 'AuthorizationQueryParametersError';
  const parameter = (name: string) => request.query.get(`X-Amz-${name}`) ?? '';
  const signature = parameter('Signature');
  const timestamp = parameter('Date');
  const time = parseTimestamp(timestamp);
  const expires = /^\d{1,6}$/.test(parameter('Expires')) ? Number(parameter('Expires')) : 0;
  if (parameter('Algorithm') !== algorithm || time === undefined || !/^[0-9a-f]{64}$/.test(signature)) {
    throw new S3Error(malformed, 'The query parameters of the signature are incomplete or malformed.');
  }
  if (expires < 1 || expires > maxExpiresSeconds) {
    throw new S3Error(malformed, `X-Amz-Expires must be between 1 and ${maxExpiresSeconds} seconds`);
  }
  const scope = parseCredential(
    parameter('Credential'),
    authority.credentials,
    authority.region,
    timestamp,
    malformed,
  );
  const now = Date.now();
  if (time - now > maxClockSkew) throw new S3Error('AccessDenied', 'Request is not yet valid');
  if (now > time + expires * 1000) throw new S3Error('AccessDenied', 'Request has expired');
  const headers = withHoisted(request);
  const signedHeaders = parseSignedHeaders(parameter('SignedHeaders'), request.headers, malformed);
  const query = new Map([...request.query].filter(([name]) => name !== 'X-Amz-Signature'));
  const payloadHash = headers.get('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD';
  const key = signingKey(authority.credentials.secretAccessKey, scope);
  const parts = { ...request, query, signedHeaders, payloadHash };
  if (!sameSignature(requestSignature(key, timestamp, scope, parts), signature)) throw mismatch();
  return { headers, payload: parsePayload(payloadHash, { key, timestamp, scope, seed: signature }) };
}

/**
 * Parse `key id/yyyymmdd/region/s3/aws4_request`, and refuse credentials or scopes of another server.
 * @throws S3Error with `malformedCode`, or InvalidAccessKeyId
 */
function parseCredential(
  text: string,
  s3Credentials: S3Credentials,
  region: string,
  timestamp: string,
  malformedCode: S3ErrorCode,
): Scope {
  const match = /^([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request$/.exec(text);
  if (match === null) throw new S3Error(malformedCode, 'The credential is malformed.');
  const [, accessKeyId, day = '', givenRegion = '', service = ''] = match;
  if (accessKeyId !== s3Credentials.accessKeyId) {
    throw new S3Error(
      'InvalidAccessKeyId',
      'The AWS Access Key Id you provided does not exist in our records.',
    );
  }
  if (givenRegion !== region) {
    throw new S3Error(malformedCode, `The region '${givenRegion}' is wrong; expecting '${region}'.`, {
      Region: region,
    });
  }
  if (service !== 's3') throw new S3Error(malformedCode, "The service is wrong; expecting 's3'.");
  if (!timestamp.startsWith(day)) {
    throw new S3Error(malformedCode, 'The date of the credential is not the date of the request.');
  }
  return { day, region: givenRegion, service };
}

/**
 * Return the headers and the `x-amz-*` query parameters. Presigning moves these headers into the query, where they
 * keep their meaning.
 */
function withHoisted(request: S3Request): Map<string, string> {
  const headers = new Map(request.headers);
  for (const [name, value] of request.query) {
    const header = name.toLowerCase();
    if (!header.startsWith('x-amz-')) continue;
    if (headers.has(header)) throw new S3Error('InvalidArgument', `${header} is given twice.`);
    headers.set(header, value);
  }
  return headers;
}

/**
 * Return the signed header names. Check that all of them are present, and that the required ones are signed.
 * @throws S3Error with `malformedCode`, SignatureDoesNotMatch, AccessDenied
 */
function parseSignedHeaders(
  text: string,
  headers: ReadonlyMap<string, string>,
  malformedCode: S3ErrorCode,
): string[] {
  const names = text.split(';');
  if (!/^[a-z0-9;_-]+$/.test(text) || new Set(names).size !== names.length || !names.includes('host')) {
    throw new S3Error(malformedCode, 'The list of signed headers is malformed or lacks host.');
  }
  const absent = names.filter((name) => !headers.has(name));
  if (absent.length > 0) {
    throw new S3Error('SignatureDoesNotMatch', `Signed headers are missing: ${absent.join(', ')}`);
  }
  const unsigned = [...headers.keys()].filter((name) => name.startsWith('x-amz-') && !names.includes(name));
  if (unsigned.length > 0) {
    throw new S3Error('AccessDenied', 'There were headers present in the request which were not signed', {
      HeadersNotSigned: unsigned.join(', '),
    });
  }
  return names;
}

function mismatch(): S3Error {
  return new S3Error(
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided.',
  );
}

/** Parse the value of `x-amz-content-sha256`. @throws S3Error InvalidArgument, NotImplemented */
function parsePayload(value: string, signing: SigningContext): Payload {
  if (/^[0-9a-f]{64}$/.test(value)) return { kind: 'hashed', sha256: value };
  switch (value) {
    case 'UNSIGNED-PAYLOAD':
      return { kind: 'unsigned' };
    case 'STREAMING-UNSIGNED-PAYLOAD-TRAILER':
      return { kind: 'chunked', trailer: true, chain: undefined };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD':
      return { kind: 'chunked', trailer: false, chain: chunkChain(signing) };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER':
      return { kind: 'chunked', trailer: true, chain: chunkChain(signing) };
  }
  if (value.startsWith('STREAMING-')) {
    throw new S3Error('NotImplemented', `The payload signature ${value} is not implemented.`);
  }
  throw new S3Error(
    'InvalidArgument',
    'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-… or a valid sha256 value.',
  );
}

interface SigningContext {
  key: KeyObject;
  timestamp: string;
  scope: Scope;
  /** The signature of the request, which starts the chain. */
  seed: string;
}

function chunkChain({ key, timestamp, scope, seed }: SigningContext): ChunkChain {
  let previous = seed;
  const verify = (kind: 'PAYLOAD' | 'TRAILER', contentSha256: string, signature: string) => {
    const expected = chainedSignature(key, kind, timestamp, scope, previous, contentSha256);
    if (!sameSignature(expected, signature)) {
      throw new S3Error('SignatureDoesNotMatch', 'The signature of a chunk does not match its content.');
    }
    previous = expected;
  };
  return {
    chunk: (contentSha256, signature) => verify('PAYLOAD', contentSha256, signature),
    trailer: (contentSha256, signature) => verify('TRAILER', contentSha256, signature),
  };
}

function verifyHeader(request: S3Request, authorization: string, authority: Authority): Verified {
  const malformed = 'AuthorizationHeaderMalformed';
  const match =
    /^AWS4-HMAC-SHA256 +Credential=([^,\s]+), *SignedHeaders=([^,\s]+), *Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (match === null) throw new S3Error(malformed, 'The authorization header is malformed.');
  const [, credential = '', signed = '', signature = ''] = match;
  const timestamp = request.headers.get('x-amz-date') ?? '';
  const time = parseTimestamp(timestamp);
  if (time === undefined) {
    throw new S3Error('AccessDenied', 'AWS authentication requires a valid x-amz-date header');
  }
  if (Math.abs(Date.now() - time) > maxClockSkew) {
    throw new S3Error(
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
    );
  }
  const payloadHash = request.headers.get('x-amz-content-sha256');
  if (payloadHash === undefined) {
    throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  }
  const scope = parseCredential(credential, authority.credentials, authority.region, timestamp, malformed);
  const signedHeaders = parseSignedHeaders(signed, request.headers, malformed);
  const key = signingKey(authority.credentials.secretAccessKey, scope);
  const expected = requestSignature(key, timestamp, scope, { ...request, signedHeaders, payloadHash });
  if (!sameSignature(expected, signature)) throw mismatch();
  const payload = parsePayload(payloadHash, { key, timestamp, scope, seed: signature });
  return { headers: request.headers, payload };
}

/** Use the session's own secret to verify its signatures. */
function actingAs(authority: Authority, session: Session | undefined): Authority {
  if (session === undefined) return authority;
  const { accessKeyId } = authority.credentials;
  return { ...authority, credentials: { accessKeyId, secretAccessKey: session.secretAccessKey } };
}
