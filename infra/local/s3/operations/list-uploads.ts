import { sendXml } from '../protocol/answer.ts';
import { checksumElement } from '../protocol/checksum.ts';
import { group, tag, xmlDocument } from '../protocol/xml.ts';
import type { UploadChecksum } from '../store/upload-store.ts';
import { keyEncoding, maxPage, parseCount } from './list-objects.ts';
import type { Exchange } from './s3-exchange.ts';

/** ListMultipartUploads: list uploads that are neither completed nor aborted. */
export function listUploads({ request, response, store }: Exchange): void {
  const { query, bucket } = request;
  store.objects.requireBucket(bucket);
  const encode = keyEncoding(query);
  const limit = Math.min(parseCount(query, 'max-uploads', maxPage), maxPage);
  const prefix = query.get('prefix') ?? '';
  const [keyMarker, idMarker] = [query.get('key-marker') ?? '', query.get('upload-id-marker') ?? ''];
  // Without an id, skip the whole key: every id sorts below this one.
  const after = { key: keyMarker, id: keyMarker !== '' && idMarker === '' ? '~' : idMarker };
  const found = store.uploads.list(bucket, prefix, after, limit + 1);
  const uploads = found.slice(0, limit);
  const last = found.length > limit ? uploads.at(-1) : undefined;
  sendXml(
    response,
    xmlDocument(
      'ListMultipartUploadsResult',
      tag('Bucket', bucket),
      tag('KeyMarker', encode(keyMarker)),
      tag('UploadIdMarker', idMarker),
      ...(last === undefined
        ? []
        : [tag('NextKeyMarker', encode(last.key)), tag('NextUploadIdMarker', last.id)]),
      tag('Prefix', encode(prefix)),
      ...(query.has('encoding-type') ? [tag('EncodingType', 'url')] : []),
      tag('MaxUploads', limit),
      tag('IsTruncated', last !== undefined),
      ...uploads.map(({ key, id, initiated, checksum }) =>
        group(
          'Upload',
          tag('Key', encode(key)),
          tag('UploadId', id),
          tag('StorageClass', 'STANDARD'),
          tag('Initiated', new Date(initiated).toISOString()),
          ...checksumTags(checksum),
        ),
      ),
    ),
  );
}

function checksumTags(checksum: UploadChecksum | undefined): string[] {
  if (checksum === undefined) return [];
  return [tag('ChecksumAlgorithm', checksum.algorithm), tag('ChecksumType', checksum.type)];
}

/** ListParts: list the received parts of an upload. */
export function listParts({ request, response, store }: Exchange): void {
  const { query, bucket, key } = request;
  const upload = store.uploads.require(query.get('uploadId') ?? '', request);
  const encode = keyEncoding(query);
  const limit = Math.min(parseCount(query, 'max-parts', maxPage), maxPage);
  const after = parseCount(query, 'part-number-marker', 0);
  const found = store.uploads.parts(upload.id, after, limit + 1);
  const parts = found.slice(0, limit);
  const truncated = found.length > limit && limit > 0;
  sendXml(
    response,
    xmlDocument(
      'ListPartsResult',
      tag('Bucket', bucket),
      tag('Key', encode(key)),
      tag('UploadId', upload.id),
      tag('PartNumberMarker', after),
      tag('NextPartNumberMarker', parts.at(-1)?.number ?? after),
      tag('MaxParts', limit),
      tag('IsTruncated', truncated),
      ...checksumTags(upload.checksum),
      ...parts.map(({ number, modified, etag, size, checksum }) =>
        group(
          'Part',
          tag('PartNumber', number),
          tag('LastModified', new Date(modified).toISOString()),
          tag('ETag', `"${etag}"`),
          tag('Size', size),
          ...(checksum === undefined ? [] : [tag(checksumElement(checksum.algorithm), checksum.value)]),
        ),
      ),
      tag('StorageClass', 'STANDARD'),
    ),
  );
}
