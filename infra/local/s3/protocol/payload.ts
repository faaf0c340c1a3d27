import type { KeyObject } from 'node:crypto';
import { chainedSignature, type Scope, sameSignature } from '../../access/sigv4.ts';
import { S3Error } from './s3-error.ts';

/** The body as the signature covers it: not at all, by its hash, or in (signed) chunks. */
export type Payload =
  | { kind: 'unsigned' }
  | { kind: 'hashed'; sha256: string }
  | { kind: 'chunked'; trailer: boolean; chain: ChunkChain | undefined };

/** Checks the signatures of chunks, each of which is chained to the one before it. */
export interface ChunkChain {
  chunk(contentSha256: string, signature: string): void;
  trailer(contentSha256: string, signature: string): void;
}

export interface SigningContext {
  key: KeyObject;
  timestamp: string;
  scope: Scope;
  /** The signature of the request, which begins the chain. */
  seed: string;
}

/** Reads the value of `x-amz-content-sha256`. @throws S3Error InvalidArgument, NotImplemented */
export function parsePayload(value: string, signing: SigningContext): Payload {
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
