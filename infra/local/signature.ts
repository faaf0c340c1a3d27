import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Credentials, sessionSecret } from './role/session.ts';

interface SignedRequest {
  method: string;
  /** Path alone: no operation of AWS Batch or DynamoDB has a query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Where a request must be signed for. */
interface SigningScope {
  region: string;
  /** Name of the service in the scope of its signatures. */
  service: 'batch' | 'dynamodb';
}

/** A request without a valid signature of the server's credentials; `code` as AWS names it, status 403. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const maxClockSkew = 15 * 60 * 1000;
const mustBeSigned = ['host', 'x-amz-date'];

/**
 * Verifies the Signature Version 4 in the Authorization header, over the body that really came: of the server's own
 * credentials, or of a session with them. What its role may do is not looked at.
 * @throws SignatureError
 */
export function verifySignature(
  request: SignedRequest,
  { region, service }: SigningScope,
  own: Credentials,
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
  if (accessKeyId !== own.accessKeyId || givenRegion !== region) {
    throw new SignatureError(
      'UnrecognizedClientException',
      `The security token is not one of this server in ${region}.`,
    );
  }
  const token = header(headers, 'x-amz-security-token');
  const secret = token === '' ? own.secretAccessKey : sessionSecret(own, token);
  const date = header(headers, 'x-amz-date');
  checkDate(date, day);
  const names = signedNames.split(';');
  if (
    mustBeSigned.some((name) => !names.includes(name)) ||
    names.some((name) => headers[name] === undefined)
  ) {
    throw incomplete('host and x-amz-date must be signed, and every signed header must be there');
  }
  const payloadHash = createHash('sha256').update(body).digest('hex');
  if ((headers['x-amz-content-sha256'] ?? payloadHash) !== payloadHash) throw mismatch();
  const canonical = [
    request.method,
    request.path,
    '',
    ...names.map((name) => `${name}:${header(headers, name).trim().replace(/ +/g, ' ')}`),
    '',
    signedNames,
    payloadHash,
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const hash = createHash('sha256').update(canonical).digest('hex');
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  const expected = hmac(key, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash}`);
  if (!timingSafeEqual(expected, Buffer.from(given, 'hex'))) throw mismatch();
}

function checkDate(date: string, day: string): void {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date);
  const [, year, month, dayOfMonth, hour, minute, second] = match ?? [];
  const time = Date.parse(`${year}-${month}-${dayOfMonth}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time) || !date.startsWith(day)) throw incomplete('x-amz-date is missing or malformed');
  if (Math.abs(Date.now() - time) > maxClockSkew) {
    throw new SignatureError('InvalidSignatureException', `Signature expired: ${date}`);
  }
}

function header(headers: IncomingHttpHeaders, name: string): string {
  return headers[name]?.toString() ?? '';
}

function incomplete(message: string): SignatureError {
  return new SignatureError('IncompleteSignatureException', message);
}

function mismatch(): SignatureError {
  return new SignatureError(
    'InvalidSignatureException',
    'The request signature we calculated does not match the signature you provided.',
  );
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
