import { sendEmpty } from '../protocol/answer.ts';
import type { ChecksumAlgorithm } from '../protocol/checksum.ts';
import { type ReceivedBody, receiveBody } from '../protocol/receive-body.ts';
import { S3Error } from '../protocol/s3-error.ts';
import type { StagedBlob } from '../store/blob-folder.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { writeCondition } from './conditions.ts';
import { checksumHeaders, keptHeaders } from './object-headers.ts';
import type { Exchange } from './s3-exchange.ts';

/** PutObject: store an object from one body. Support `If-None-Match: *`, and `If-Match` on the replaced object. */
export async function putObject(exchange: Exchange): Promise<void> {
  const { request, response, headers, store } = exchange;
  store.objects.requireBucket(request.bucket);
  const condition = writeCondition(headers);
  const kept = keptHeaders(headers);
  const stored = await stageBody(exchange, undefined, (blob, { size, md5, checksum }) => {
    const object: Omit<StoredObject, 'content'> = {
      size,
      etag: md5,
      modified: Date.now(),
      headers: kept,
      checksum: checksum === undefined ? undefined : { ...checksum, type: 'FULL_OBJECT' },
    };
    store.objects.put(request, blob, object, condition);
    return object;
  });
  sendEmpty(response, 200, { etag: `"${stored.etag}"`, ...checksumHeaders(stored) });
}

/**
 * Write the body to a staged file, sync it to the disk, and let `commit` refer to it. After an error, remove the
 * file.
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

/** Maximum size of a single put, and of a part: 5 GiB. */
export const maxPutBytes = 5 * 1024 ** 3;

function tooLarge(): S3Error {
  return new S3Error('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size', {
    MaxSizeAllowed: String(maxPutBytes),
  });
}
