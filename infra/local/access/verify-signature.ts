import type { IncomingHttpHeaders } from 'node:http';
import { type Credentials, sessionSecret } from './session-credentials.ts';
import {
  maxClockSkew,
  parseTimestamp,
  requestSignature,
  sameSignature,
  sha256Hex,
  signingKey,
} from './sigv4.ts';

/**
 * Verify the Signature Version 4 in the Authorization header over the received body. Accept the server's own
 * credentials and those of its sessions. Do not check the rights of the role.
 * @throws SignatureError
 */
export function verifySignature(
  request: SignedRequest,
  { region, service }: SigningScope,
  credentials: Credentials,
): void {
  const { headers, body } = request;
  const authorization = headers.authorization;
  if (authorization === undefined) {
    throw new SignatureError('MissingAuthenticationTokenException', 'Missing Authentication Token');
  }
  const match =
    /^AWS4-HMAC-SHA256 +Credential=([^,/\s]+)\/(\d{8})\/([^,/\s]+)\/([a-z]+)\/aws4_request, *SignedHeaders=([a-z0-9;-]+), *Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (match === null || match[4] !== service) {
    throw incomplete(`The Authorization header is not one of a signed request to ${service}`);
  }
  const [, accessKeyId = '', day = '', givenRegion = '', , signedNames = '', given = ''] = match;
  if (accessKeyId !== credentials.accessKeyId || givenRegion !== region) {
    throw new SignatureError(
      'UnrecognizedClientException',
      `The security token is not one of this server in ${region}.`,
    );
  }
  const token = header(headers, 'x-amz-security-token');
  const secret = token === '' ? credentials.secretAccessKey : sessionSecret(credentials, token);
  const date = header(headers, 'x-amz-date');
  checkDate(date, day);
  const names = signedNames.split(';');
  if (
    mustBeSigned.some((name) => !names.includes(name)) ||
    names.some((name) => headers[name] === undefined)
  ) {
    throw incomplete('host and x-amz-date must be signed, and every signed header must be there');
  }
  const payloadHash = sha256Hex(body);
  if ((headers['x-amz-content-sha256'] ?? payloadHash) !== payloadHash) throw mismatch();
  const scope = { day, region, service };
  const expected = requestSignature(signingKey(secret, scope), date, scope, {
    method: request.method,
    path: request.path,
    query: new Map(),
    headers: new Map(names.map((name) => [name, header(headers, name).trim()])),
    signedHeaders: names,
    payloadHash,
  });
  if (!sameSignature(expected, given)) throw mismatch();
}

interface SignedRequest {
  method: string;
  /** Path without a query: no operation of AWS Batch or DynamoDB has a query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Region and service that a signature must be for. */
interface SigningScope {
  region: string;
  /** Name of the service in the signature's scope. */
  service: 'batch' | 'dynamodb' | 'lambda' | 'sns';
}

/**
 * The request has no valid signature of the server's credentials. `code` is the error code of AWS; the status is
 * 403.
 */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function incomplete(message: string): SignatureError {
  return new SignatureError('IncompleteSignatureException', message);
}

function header(headers: IncomingHttpHeaders, name: string): string {
  return headers[name]?.toString() ?? '';
}

function checkDate(date: string, day: string): void {
  const time = parseTimestamp(date);
  if (time === undefined || !date.startsWith(day)) throw incomplete('x-amz-date is missing or malformed');
  if (Math.abs(Date.now() - time) > maxClockSkew) {
    throw new SignatureError('InvalidSignatureException', `Signature expired: ${date}`);
  }
}

const mustBeSigned = ['host', 'x-amz-date'];

function mismatch(): SignatureError {
  return new SignatureError(
    'InvalidSignatureException',
    'The request signature we calculated does not match the signature you provided.',
  );
}
