import { createHash } from 'node:crypto';
import type { Authenticated } from './authenticate-request.ts';
import { decodeAwsChunked, incompleteBody } from './aws-chunked.ts';
import {
  type Checksum,
  type ChecksumAlgorithm,
  checksumHeader,
  isChecksumValue,
  parseAlgorithm,
  startChecksum,
} from './checksum.ts';
import { S3Error } from './s3-error.ts';
import type { S3Request } from './s3-request.ts';
import { malformed, readXml, type XmlElement } from './xml.ts';

/**
 * Pass the decoded body piece by piece to `write`, and await each write. Verify the body against the request's
 * length, SHA-256, chunk signatures, Content-MD5 and checksum. After an error, the caller must not use the written
 * pieces.
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
    // Hash while the disk writes.
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

interface BodyRules {
  /** Maximum bytes. */
  limit: number;
  tooLarge: () => S3Error;
  /** Algorithm to compute if the request has no checksum. */
  fallback?: ChecksumAlgorithm | undefined;
}

/** A complete body that matches its headers. */
export interface ReceivedBody {
  size: number;
  /** Lower-case hex. */
  md5: string;
  checksum: Checksum | undefined;
}

const checksumPrefix = 'x-amz-checksum-';

/**
 * Parse `x-amz-checksum-*`, `x-amz-trailer` and `x-amz-sdk-checksum-algorithm`. Return undefined if there is none.
 * @throws S3Error InvalidRequest if they contradict each other
 */
function expectedChecksum(
  headers: ReadonlyMap<string, string>,
  hasTrailer: boolean,
): ExpectedChecksum | undefined {
  const inHeader = headerChecksum(headers);
  const trailer = headers.get('x-amz-trailer');
  if (trailer !== undefined && !hasTrailer) {
    throw new S3Error('InvalidRequest', 'x-amz-trailer needs a payload that is streamed with a trailer.');
  }
  if (inHeader !== undefined && trailer !== undefined) {
    throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header or trailer.');
  }
  if (inHeader !== undefined && !isChecksumValue(inHeader)) {
    throw new S3Error(
      'InvalidRequest',
      `Value for ${checksumPrefix}${inHeader.algorithm.toLowerCase()} is invalid.`,
    );
  }
  const expected = inHeader ?? fromTrailer(trailer);
  const sdk = headers.get('x-amz-sdk-checksum-algorithm');
  if (sdk !== undefined && parseAlgorithm(sdk) !== expected?.algorithm) {
    throw new S3Error(
      'InvalidRequest',
      'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
    );
  }
  return expected;
}

/** The checksum of a body according to the request's headers. */
interface ExpectedChecksum {
  algorithm: ChecksumAlgorithm;
  /** Undefined if it follows the body as a trailer. */
  value: string | undefined;
}

/** Headers with that prefix that contain no checksum. */
const withoutValue = new Set([
  `${checksumPrefix}mode`,
  `${checksumPrefix}type`,
  `${checksumPrefix}algorithm`,
]);

/** Parse the checksum header. Return undefined if there is none. @throws S3Error InvalidRequest */
export function headerChecksum(headers: ReadonlyMap<string, string>): Checksum | undefined {
  const names = [...headers.keys()].filter(
    (name) => name.startsWith(checksumPrefix) && !withoutValue.has(name),
  );
  const [name] = names;
  if (name === undefined) return undefined;
  if (names.length > 1) {
    throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header. Multiple were given.');
  }
  return { algorithm: parseAlgorithm(name.slice(checksumPrefix.length)), value: headers.get(name) ?? '' };
}

function fromTrailer(trailer: string | undefined): ExpectedChecksum | undefined {
  if (trailer === undefined) return undefined;
  const name = trailer.trim().toLowerCase();
  if (!name.startsWith(checksumPrefix)) {
    throw new S3Error('InvalidRequest', 'The value specified in the x-amz-trailer header is not supported');
  }
  return { algorithm: parseAlgorithm(name.slice(checksumPrefix.length)), value: undefined };
}

function parseContentMd5(text: string | undefined): Buffer | undefined {
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== 16 || bytes.toString('base64') !== text) {
    throw new S3Error('InvalidDigest', 'The Content-MD5 you specified is not valid.');
  }
  return bytes;
}

function announcedLength(headers: ReadonlyMap<string, string>, chunked: boolean): number {
  const text = headers.get(chunked ? 'x-amz-decoded-content-length' : 'content-length');
  if (text === undefined) {
    throw new S3Error('MissingContentLength', 'You must provide the Content-Length HTTP header.');
  }
  if (!/^\d{1,15}$/.test(text)) throw new S3Error('InvalidArgument', 'The content length is not a number.');
  return Number(text);
}

/** Read the bytes of the message. Treat a client that leaves like a body that ends early. */
async function* pieces({ message }: S3Request): AsyncGenerator<Buffer, void, undefined> {
  try {
    // The connection must stay open until the refusal of a body is sent.
    for await (const piece of message.iterator({ destroyOnReturn: false })) yield piece;
  } catch {
    throw incompleteBody();
  }
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

/** Maximum bytes of a document. The largest one, ten thousand parts with their SHA-256 checksums, has 2.2 MB. */
const maxDocumentBytes = 3 * 1024 * 1024;

/**
 * Receive a small XML body with the root element `root`.
 * @throws S3Error MalformedXML, MaxMessageLengthExceeded and those of receiveBody
 */
export async function receiveDocument(
  request: S3Request,
  authenticated: Authenticated,
  root: string,
): Promise<XmlElement> {
  const pieces: Buffer[] = [];
  const tooLarge = () => new S3Error('MaxMessageLengthExceeded', 'Your request was too large.');
  await receiveBody(request, authenticated, { limit: maxDocumentBytes, tooLarge }, async (piece) => {
    pieces.push(piece);
  });
  const document = readXml(decodeText(Buffer.concat(pieces)));
  if (document.name !== root) throw malformed();
  return document;
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw malformed();
  }
}
