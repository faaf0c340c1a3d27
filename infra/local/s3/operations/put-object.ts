import { sendEmpty } from '../protocol/answer.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { writeCondition } from './conditions.ts';
import { checksumHeaders, keptHeaders } from './object-headers.ts';
import type { Exchange } from './s3-exchange.ts';
import { stageBody } from './stage-body.ts';

/** PutObject: a whole object in one body, with `If-None-Match: *` and `If-Match` on the object it replaces. */
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
