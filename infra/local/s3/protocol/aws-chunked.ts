import { createHash } from 'node:crypto';
import { sha256Hex } from '../../access/sigv4.ts';
import type { ChunkChain } from './authenticate-request.ts';
import { S3Error } from './s3-error.ts';

/**
 * Decode the `aws-chunked` framing of a body. Yield data as it arrives, and put the trailers into `trailers` at
 * the end. If `chain` is given, every chunk and the trailer must have a signature.
 * @throws S3Error IncompleteBody, MalformedTrailerError, SignatureDoesNotMatch
 */
export async function* decodeAwsChunked(
  source: AsyncIterable<Buffer>,
  chain: ChunkChain | undefined,
  trailers: Map<string, string>,
): AsyncGenerator<Buffer, void, undefined> {
  const reader = new ByteReader(source, incompleteBody);
  for (;;) {
    const head = chunkHead.exec((await reader.line(maxLine)) ?? '');
    if (head === null) throw incompleteBody();
    let left = Number.parseInt(head[1] ?? '', 16);
    const last = left === 0;
    const hash = chain === undefined ? undefined : createHash('sha256');
    while (left > 0) {
      const piece = await reader.some(left);
      if (piece === undefined) throw incompleteBody();
      left -= piece.length;
      hash?.update(piece);
      yield piece;
    }
    if (hash !== undefined) chain?.chunk(hash.digest('hex'), head[2] ?? '');
    if (last) break;
    if ((await reader.line(0)) !== '') throw incompleteBody();
  }
  await readTrailers(reader, chain, trailers);
  if ((await reader.some(1)) !== undefined) throw incompleteBody();
}

/** Read exact numbers of bytes, or lines, from a stream. Buffer at most one extra chunk, or one line. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #cutShort: () => Error;
  #held: Buffer = Buffer.alloc(0);

  /** @param cutShort makes the error for a stream that ends too early */
  constructor(source: AsyncIterable<Buffer>, cutShort: () => Error) {
    this.#chunks = source[Symbol.asyncIterator]();
    this.#cutShort = cutShort;
  }

  /** Return the buffered bytes, up to `limit`, or undefined at the end. */
  async some(limit: number): Promise<Buffer | undefined> {
    if (this.#held.length === 0 && !(await this.#pull())) return undefined;
    const bytes = this.#held.subarray(0, limit);
    this.#held = this.#held.subarray(bytes.length);
    return bytes;
  }

  /**
   * Return the next `length` bytes, or undefined at the end. @throws the `cutShort` error if the stream ends among
   * them
   */
  async read(length: number): Promise<Buffer | undefined> {
    if (length === 0) return Buffer.alloc(0);
    const first = await this.some(length);
    if (first === undefined || first.length === length) return first;
    const parts = [first];
    for await (const part of this.stream(length - first.length)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** Yield the next `length` bytes in pieces. @throws the `cutShort` error if the stream ends among them */
  async *stream(length: number): AsyncGenerator<Buffer, void, undefined> {
    for (let missing = length; missing > 0; ) {
      const part = await this.some(missing);
      if (part === undefined) throw this.#cutShort();
      missing -= part.length;
      yield part;
    }
  }

  /**
   * Read a line up to CRLF as latin1, and consume the CRLF. Return undefined at the end.
   * @throws the `cutShort` error for a line that is cut off or longer than `limit`
   */
  async line(limit: number): Promise<string | undefined> {
    let end = this.#held.indexOf('\r\n');
    while (end < 0 && this.#held.length < limit + 2) {
      const before = this.#held;
      if (!(await this.#pull())) {
        if (before.length === 0) return undefined;
        throw this.#cutShort();
      }
      this.#held = Buffer.concat([before, this.#held]);
      end = this.#held.indexOf('\r\n');
    }
    if (end < 0 || end > limit) throw this.#cutShort();
    const text = this.#held.toString('latin1', 0, end);
    this.#held = this.#held.subarray(end + 2);
    return text;
  }

  /** Close the stream, even before its end. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #pull(): Promise<boolean> {
    for (;;) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#held = next.value;
      if (this.#held.length > 0) return true;
    }
  }
}

/** Make the error for a body that ends early or whose framing is invalid. */
export function incompleteBody(): S3Error {
  return new S3Error(
    'IncompleteBody',
    'The request body terminated unexpectedly or is not framed as its headers say.',
  );
}

const chunkHead = /^([0-9a-fA-F]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/;

const maxLine = 1024;

const maxTrailers = 8;

async function readTrailers(
  reader: ByteReader,
  chain: ChunkChain | undefined,
  trailers: Map<string, string>,
): Promise<void> {
  for (let line = await reader.line(maxLine); line !== undefined && line !== ''; ) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    if (name === '' || trailers.has(name) || trailers.size >= maxTrailers) {
      throw new S3Error('MalformedTrailerError', 'The request contained trailing data that was malformed.');
    }
    trailers.set(name, line.slice(colon + 1).trim());
    line = await reader.line(maxLine);
  }
  const signature = trailers.get('x-amz-trailer-signature');
  trailers.delete('x-amz-trailer-signature');
  if (chain === undefined || (trailers.size === 0 && signature === undefined)) return;
  const signed = [...trailers].map(([name, value]) => `${name}:${value}\n`).join('');
  chain.trailer(sha256Hex(Buffer.from(signed, 'latin1')), signature ?? '');
}
