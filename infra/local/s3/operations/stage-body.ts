import type { ChecksumAlgorithm } from '../integrity/checksum.ts';
import { type ReceivedBody, receiveBody } from '../integrity/receive-body.ts';
import { S3Error } from '../protocol/s3-error.ts';
import type { StagedBlob } from '../store/blob-folder.ts';
import type { Exchange } from './s3-exchange.ts';

/** The largest single put, and the largest part: 5 GiB. */
export const maxPutBytes = 5 * 1024 ** 3;

/**
 * Write the body to a staged file, make it durable and let `commit` refer to it. After any error the file is removed.
 */
export async function stageBody<T>(
  { request, authenticated, store }: Exchange,
  fallback: ChecksumAlgorithm | undefined,
  commit: (blob: StagedBlob, body: ReceivedBody) => T,
): Promise<T> {
  const blob = await store.blobs.stage();
  let committed = false;
  try {
    const rules = { limit: maxPutBytes, tooLarge, fallback };
    const body = await receiveBody(request, authenticated, rules, blob.write);
    await blob.seal();
    const result = commit(blob, body);
    committed = true;
    return result;
  } finally {
    if (!committed) await blob.discard();
  }
}

function tooLarge(): S3Error {
  return new S3Error('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size', {
    MaxSizeAllowed: String(maxPutBytes),
  });
}
