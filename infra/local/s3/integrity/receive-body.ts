import { createHash } from 'node:crypto';
import type { Authenticated } from '../protocol/authenticate-request.ts';
import { S3Error } from '../protocol/s3-error.ts';
import type { S3Request } from '../protocol/s3-request.ts';
import { decodeAwsChunked } from './aws-chunked.ts';
import { type Checksum, type ChecksumAlgorithm, checksumHeader, startChecksum } from './checksum.ts';
import { type ExpectedChecksum, expectedChecksum } from './expected-checksum.ts';
import { incompleteBody } from './incomplete-body.ts';

/** A body that arrived whole and matches its headers. */
export interface ReceivedBody {
  size: number;
  /** Lower-case hex. */
  md5: string;
  checksum: Checksum | undefined;
}

export interface BodyRules {
  /** In bytes. */
  limit: number;
  tooLarge: () => S3Error;
  /** Computed where the request gives no checksum of its own. */
  fallback?: ChecksumAlgorithm | undefined;
}

/**
 * Pass the decoded body piece by piece to `write`, waiting for each, and verify all that the request states about it:
 * length, SHA-256, chunk signatures, Content-MD5 and checksum. After an error the written pieces must not be used.
 * @throws S3Error
 */
export async function receiveBody(
  request: S3Request,
  { headers, payload }: Authenticated,
  rules: BodyRules,
  write: (piece: Buffer) => Promise<void>,
): Promise<ReceivedBody> {
  const chunked = payload.kind === 'chunked';
  const expected = expectedChecksum(headers, chunked && payload.trailer);
  const contentMd5 = parseContentMd5(headers.get('content-md5'));
  const length = announcedLength(headers, chunked);
  if (length > rules.limit) throw rules.tooLarge();

  const algorithm = expected?.algorithm ?? rules.fallback;
  const checksum = algorithm === undefined ? undefined : startChecksum(algorithm);
  const md5 = createHash('md5');
  const sha256 = payload.kind === 'hashed' ? createHash('sha256') : undefined;
  const trailers = new Map<string, string>();
  let size = 0;

  if (request.expectsContinue) request.response.writeContinue();
  const body = pieces(request);
  for await (const piece of chunked ? decodeAwsChunked(body, payload.chain, trailers) : body) {
    size += piece.length;
    if (size > length) throw incompleteBody();
    const written = write(piece);
    // The disk and the hashes work at the same time.
    md5.update(piece);
    sha256?.update(piece);
    checksum?.update(piece);
    await written;
  }
  if (size !== length) throw incompleteBody();
  if (payload.kind === 'hashed' && sha256?.digest('hex') !== payload.sha256) {
    throw new S3Error(
      'XAmzContentSHA256Mismatch',
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    );
  }
  const digest = md5.digest();
  if (contentMd5 !== undefined && !digest.equals(contentMd5)) {
    throw new S3Error('BadDigest', 'The Content-MD5 you specified did not match what we received.');
  }
  const value = checksum?.digest().toString('base64');
  if (expected !== undefined) requireMatch(expected, trailers, value);
  return {
    size,
    md5: digest.toString('hex'),
    checksum: algorithm === undefined || value === undefined ? undefined : { algorithm, value },
  };
}

/** The message's bytes; a client that goes away is a body that ends early. */
async function* pieces({ message }: S3Request): AsyncGenerator<Buffer, void, undefined> {
  try {
    // Refusing a body must not close the connection before the refusal is sent.
    for await (const piece of message.iterator({ destroyOnReturn: false })) yield piece;
  } catch {
    throw incompleteBody();
  }
}

function announcedLength(headers: ReadonlyMap<string, string>, chunked: boolean): number {
  const text = headers.get(chunked ? 'x-amz-decoded-content-length' : 'content-length');
  if (text === undefined) {
    throw new S3Error('MissingContentLength', 'You must provide the Content-Length HTTP header.');
  }
  if (!/^\d{1,15}$/.test(text)) throw new S3Error('InvalidArgument', 'The content length is not a number.');
  return Number(text);
}

function parseContentMd5(text: string | undefined): Buffer | undefined {
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== 16 || bytes.toString('base64') !== text) {
    throw new S3Error('InvalidDigest', 'The Content-MD5 you specified is not valid.');
  }
  return bytes;
}

function requireMatch(
  expected: ExpectedChecksum,
  trailers: ReadonlyMap<string, string>,
  computed: string | undefined,
): void {
  const given = expected.value ?? trailers.get(checksumHeader(expected.algorithm));
  if (given === undefined) {
    throw new S3Error('MalformedTrailerError', 'The trailer announced by x-amz-trailer did not come.');
  }
  if (given !== computed) {
    throw new S3Error(
      'BadDigest',
      `The ${expected.algorithm} you specified did not match the calculated checksum.`,
    );
  }
}
