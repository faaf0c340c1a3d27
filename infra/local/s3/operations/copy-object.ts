import { createHash } from 'node:crypto';
import { sendXml } from '../protocol/answer.ts';
import { checksumElement } from '../protocol/checksum.ts';
import { S3Error } from '../protocol/s3-error.ts';
import { decodeUri } from '../protocol/s3-request.ts';
import { tag, xmlDocument } from '../protocol/xml.ts';
import type { ObjectAddress } from '../store/stored-object.ts';
import { requireReadConditions, writeCondition } from './conditions.ts';
import { type ByteRange, parseRange } from './get-object.ts';
import { partNumber } from './multipart-upload.ts';
import { keptHeaders } from './object-headers.ts';
import { maxPutBytes } from './put-object.ts';
import type { Exchange } from './s3-exchange.ts';

/** CopyObject: copy by reference, so its time does not depend on the size. The copy keeps ETag and checksum. */
export function copyObject({ request, response, headers, store, access }: Exchange): void {
  const source = parseSource(headers.get('x-amz-copy-source') ?? '');
  access.requireObject('s3:GetObject', source);
  const replace = parseDirective(headers.get('x-amz-metadata-directive'));
  if (!replace && source.bucket === request.bucket && source.key === request.key) {
    throw new S3Error(
      'InvalidRequest',
      'This copy request is illegal because it copies an object to itself without changing its metadata.',
    );
  }
  if (headers.has('x-amz-checksum-algorithm')) {
    throw new S3Error('NotImplemented', 'Copies keep the checksum of their source.');
  }
  const kept = replace ? keptHeaders(headers) : undefined;
  const copied = store.objects.copy(
    source,
    request,
    (stored) => {
      requireReadConditions(headers, stored, 'x-amz-copy-source-');
      if (stored.size > maxPutBytes) {
        throw new S3Error(
          'InvalidRequest',
          `The specified copy source is larger than the maximum allowable size for a copy source: ${maxPutBytes}`,
        );
      }
      return { ...stored, modified: Date.now(), headers: kept ?? stored.headers };
    },
    writeCondition(headers),
  );
  const { checksum } = copied;
  sendXml(
    response,
    xmlDocument(
      'CopyObjectResult',
      tag('LastModified', new Date(copied.modified).toISOString()),
      tag('ETag', `"${copied.etag}"`),
      ...(checksum === undefined
        ? []
        : [tag('ChecksumType', checksum.type), tag(checksumElement(checksum.algorithm), checksum.value)]),
    ),
  );
}

/** Parse the object address in `x-amz-copy-source`. @throws S3Error InvalidArgument */
function parseSource(header: string): ObjectAddress {
  const path = decodeUri(header).replace(/^\//, '');
  const slash = path.indexOf('/');
  if (slash < 1 || slash === path.length - 1 || header.includes('?')) {
    throw new S3Error('InvalidArgument', 'Copy Source must mention the source bucket and key: bucket/key', {
      ArgumentName: 'x-amz-copy-source',
    });
  }
  return { bucket: path.slice(0, slash), key: path.slice(slash + 1) };
}

function parseDirective(value = 'COPY'): boolean {
  if (value !== 'COPY' && value !== 'REPLACE') {
    throw new S3Error('InvalidArgument', 'Unknown metadata directive.');
  }
  return value === 'REPLACE';
}

/** UploadPartCopy: copy bytes of an object as one part of an upload that was created without a checksum. */
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

/** Parse the range of a copy. Unlike a Range header, it must give both ends, and must lie within the source. */
function sourceRange(header: string | undefined, size: number): ByteRange {
  const range = header === undefined ? { first: 0, last: size - 1 } : parseRange(header, size);
  const match = /^bytes=(\d+)-(\d+)$/.exec(header ?? `bytes=0-${size - 1}`);
  if (header !== undefined && (range === undefined || match === null || Number(match[2]) >= size)) {
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
