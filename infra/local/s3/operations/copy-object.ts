import { checksumElement } from '../integrity/checksum.ts';
import { sendXml } from '../protocol/answer.ts';
import { decodeUri } from '../protocol/decode-uri.ts';
import { S3Error } from '../protocol/s3-error.ts';
import { tag, xmlDocument } from '../protocol/write-xml.ts';
import type { ObjectAddress } from '../store/object-store.ts';
import { requireReadConditions, writeCondition } from './conditions.ts';
import { keptHeaders } from './object-headers.ts';
import type { Exchange } from './s3-exchange.ts';
import { maxPutBytes } from './stage-body.ts';

/** CopyObject: by reference, so its time does not depend on the size. The copy keeps ETag and checksum. */
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

/** The object that an `x-amz-copy-source` names. @throws S3Error InvalidArgument */
export function parseSource(header: string): ObjectAddress {
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
