import { createHash } from 'node:crypto';
import { sendXml } from '../protocol/answer.ts';
import { S3Error } from '../protocol/s3-error.ts';
import { tag, xmlDocument } from '../protocol/write-xml.ts';
import { type ByteRange, parseRange } from './byte-range.ts';
import { requireReadConditions } from './conditions.ts';
import { parseSource } from './copy-object.ts';
import { partNumber } from './create-upload.ts';
import type { Exchange } from './s3-exchange.ts';
import { maxPutBytes } from './stage-body.ts';

/** UploadPartCopy: bytes of an object as one part of an upload that was created without a checksum. */
export async function copyPart({ request, response, headers, store, access }: Exchange): Promise<void> {
  const number = partNumber(request.query);
  const upload = store.uploads.require(request.query.get('uploadId') ?? '', request);
  if (upload.checksum !== undefined) {
    throw new S3Error('NotImplemented', 'Parts are copied to uploads without a checksum only.');
  }
  const source = parseSource(headers.get('x-amz-copy-source') ?? '');
  access.requireObject('s3:GetObject', source);
  const { stored, read, release } = store.objects.open(source);
  const blob = await store.blobs.stage();
  let committed = false;
  try {
    requireReadConditions(headers, stored, 'x-amz-copy-source-');
    const { first, last } = sourceRange(headers.get('x-amz-copy-source-range'), stored.size);
    const md5 = createHash('md5');
    for await (const piece of stored.size === 0 ? [] : read(first, last)) {
      md5.update(piece);
      await blob.write(piece);
    }
    await blob.seal();
    const part = { number, size: last - first + 1, etag: md5.digest('hex'), modified: Date.now() };
    store.uploads.putPart(upload, { ...part, checksum: undefined }, blob);
    committed = true;
    sendXml(
      response,
      xmlDocument(
        'CopyPartResult',
        tag('LastModified', new Date(part.modified).toISOString()),
        tag('ETag', `"${part.etag}"`),
      ),
    );
  } finally {
    release();
    if (!committed) await blob.discard();
  }
}

/** Unlike a Range, that of a copy must lie within the source, both ends given. */
function sourceRange(header: string | undefined, size: number): ByteRange {
  const range = header === undefined ? { first: 0, last: size - 1 } : parseRange(header, size);
  const asked = /^bytes=(\d+)-(\d+)$/.exec(header ?? `bytes=0-${size - 1}`);
  if (header !== undefined && (range === undefined || asked === null || Number(asked[2]) >= size)) {
    throw new S3Error(
      'InvalidArgument',
      'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy, within the source',
      { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: header },
    );
  }
  const { first, last } = range ?? { first: 0, last: size - 1 };
  if (last - first + 1 > maxPutBytes) {
    throw new S3Error(
      'InvalidRequest',
      `The specified copy source is larger than the maximum allowable size for a copy source: ${maxPutBytes}`,
    );
  }
  return { first, last };
}
