import type { Statement } from '../../../service/role-statements.ts';
import type { Session, SessionReader } from '../../access/session-credentials.ts';
import {
  algorithm,
  maxClockSkew,
  parseTimestamp,
  requestSignature,
  sameSignature,
  signingKey,
} from '../../access/sigv4.ts';
import { parseCredential, parseSignedHeaders, type S3Credentials } from './credential.ts';
import { type Payload, parsePayload } from './payload.ts';
import { S3Error } from './s3-error.ts';
import type { S3Request } from './s3-request.ts';

const maxExpiresSeconds = 7 * 24 * 3600;

/** Facts that a verified signature proves. */
export interface Authenticated {
  /** Headers to act on: those received, and `x-amz-*` ones that a presigned URL carries in its query. */
  headers: ReadonlyMap<string, string>;
  payload: Payload;
  /** Permissions of the request's role; undefined for the owner of everything. */
  role: readonly Statement[] | undefined;
}

export interface Authority {
  credentials: S3Credentials;
  /** Of sessions with these credentials. */
  sessions: SessionReader;
  region: string;
}

/**
 * Verifies the Signature Version 4 of a request, in its Authorization header or its query.
 * @throws S3Error AccessDenied, SignatureDoesNotMatch and what S3 names the other ways to be wrong
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

/** Signatures of a session are made with its own secret. */
function actingAs(authority: Authority, session: Session | undefined): Authority {
  if (session === undefined) return authority;
  const { accessKeyId } = authority.credentials;
  return { ...authority, credentials: { accessKeyId, secretAccessKey: session.secretAccessKey } };
}

type Verified = Omit<Authenticated, 'role'>;

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

/** Presigning moves `x-amz-*` headers into the query, where they keep their meaning. */
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

function mismatch(): S3Error {
  return new S3Error(
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided.',
  );
}
