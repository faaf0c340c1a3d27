import { createHash } from 'node:crypto';
import { sha256Hex } from '../../access/sigv4.ts';
import type { ChunkChain } from '../protocol/payload.ts';
import { S3Error } from '../protocol/s3-error.ts';
import { ByteReader } from './byte-reader.ts';
import { incompleteBody } from './incomplete-body.ts';

const maxLine = 1024;
const maxTrailers = 8;
const chunkHead = /^([0-9a-fA-F]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/;

/**
 * Takes the `aws-chunked` framing off a body: pieces of data as they come, and at the end the trailers into
 * `trailers`. Where `chain` is given every chunk, and the trailer, must carry its signature.
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
