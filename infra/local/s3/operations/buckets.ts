import { sendEmpty, sendXml } from '../protocol/answer.ts';
import { receiveBody, receiveDocument } from '../protocol/receive-body.ts';
import { S3Error } from '../protocol/s3-error.ts';
import { childText, group, tag, xmlDocument } from '../protocol/xml.ts';
import { keyEncoding, maxPage, parseCount } from './list-objects.ts';
import type { Exchange } from './s3-exchange.ts';

/** CreateBucket in the server's region. Refuse a request with a document, which could name another region. */
export async function createBucket(exchange: Exchange): Promise<void> {
  const { request, response, authenticated, store } = exchange;
  const tooLarge = () =>
    new S3Error('NotImplemented', 'Buckets are created in the region of this server alone');
  await receiveBody(request, authenticated, { limit: 0, tooLarge }, async () => {});
  store.objects.createBucket(request.bucket);
  sendEmpty(response, 200, { location: `/${request.bucket}` });
}

/** PutBucketVersioning: keep versions in the bucket from now on. This server cannot suspend versioning. */
export async function putBucketVersioning(exchange: Exchange): Promise<void> {
  const { request, response, authenticated, store } = exchange;
  store.objects.requireBucket(request.bucket);
  const document = await receiveDocument(request, authenticated, 'VersioningConfiguration');
  if (childText(document, 'Status') !== 'Enabled') {
    throw new S3Error('NotImplemented', 'Versioning can be enabled alone by this server');
  }
  store.objects.keepVersions(request.bucket);
  sendEmpty(response, 200);
}

/** GetBucketPolicy: no bucket of this server has a policy. */
export function getBucketPolicy({ request, store }: Exchange): void {
  store.objects.requireBucket(request.bucket);
  throw new S3Error('NoSuchBucketPolicy', 'The bucket policy does not exist');
}

/** ListObjectVersions: list versions and delete markers by key, latest first within a key. */
export function listObjectVersions({ request, response, store }: Exchange): void {
  const { query, bucket } = request;
  store.objects.requireBucket(bucket);
  const encode = keyEncoding(query);
  const limit = Math.min(parseCount(query, 'max-keys', maxPage), maxPage);
  const prefix = query.get('prefix') ?? '';
  const [keyMarker, idMarker] = [query.get('key-marker') ?? '', query.get('version-id-marker')];
  if (idMarker !== undefined && keyMarker === '') {
    throw new S3Error('InvalidArgument', 'A version-id marker cannot be specified without a key marker.');
  }
  const found = store.objects.versions(bucket, prefix, { key: keyMarker, id: idMarker }, limit + 1);
  const versions = found.slice(0, limit);
  const last = found.length > limit ? versions.at(-1) : undefined;
  sendXml(
    response,
    xmlDocument(
      'ListVersionsResult',
      tag('Name', bucket),
      tag('Prefix', encode(prefix)),
      tag('KeyMarker', encode(keyMarker)),
      tag('VersionIdMarker', idMarker ?? ''),
      ...(last === undefined
        ? []
        : [tag('NextKeyMarker', encode(last.key)), tag('NextVersionIdMarker', last.id)]),
      tag('MaxKeys', limit),
      ...(query.has('encoding-type') ? [tag('EncodingType', 'url')] : []),
      tag('IsTruncated', last !== undefined),
      ...versions.map(({ key, id, isLatest, isMarker, size, etag, modified }) =>
        group(
          isMarker ? 'DeleteMarker' : 'Version',
          tag('Key', encode(key)),
          tag('VersionId', id),
          tag('IsLatest', isLatest),
          tag('LastModified', new Date(modified).toISOString()),
          ...(isMarker ? [] : [tag('ETag', `"${etag}"`), tag('Size', size), tag('StorageClass', 'STANDARD')]),
        ),
      ),
    ),
  );
}

/** DeleteBucket: refuse if the bucket contains a version, delete marker or unfinished upload. */
export function deleteBucket({ request, response, store }: Exchange): void {
  store.objects.deleteBucket(request.bucket);
  sendEmpty(response, 204);
}
