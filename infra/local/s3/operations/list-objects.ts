import { encodePath } from '../../access/sigv4.ts';
import { sendEmpty, sendXml } from '../protocol/answer.ts';
import { S3Error } from '../protocol/s3-error.ts';
import { group, tag, xmlDocument } from '../protocol/xml.ts';
import type { Exchange } from './s3-exchange.ts';

/** ListObjectsV2: list keys in the order of their UTF-8 bytes, page by page. */
export function listObjectsV2({ request, response, store }: Exchange): void {
  const { bucket, query } = request;
  store.objects.requireBucket(bucket);
  const encode = keyEncoding(query);
  const limit = Math.min(parseCount(query, 'max-keys', maxPage), maxPage);
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  const [startAfter, token] = [query.get('start-after'), query.get('continuation-token')];
  const page = store.list({ bucket, prefix, delimiter, from: position(startAfter, token), limit });
  // An empty page cannot be continued.
  const next = limit === 0 ? undefined : page.next;
  sendXml(
    response,
    xmlDocument(
      'ListBucketResult',
      tag('Name', bucket),
      tag('Prefix', encode(prefix)),
      ...(delimiter === '' ? [] : [tag('Delimiter', encode(delimiter))]),
      tag('MaxKeys', limit),
      ...(query.has('encoding-type') ? [tag('EncodingType', 'url')] : []),
      tag('KeyCount', page.objects.length + page.commonPrefixes.length),
      tag('IsTruncated', next !== undefined),
      ...(token === undefined ? [] : [tag('ContinuationToken', token)]),
      ...(next === undefined ? [] : [tag('NextContinuationToken', next.toString('base64url'))]),
      ...(startAfter === undefined ? [] : [tag('StartAfter', encode(startAfter))]),
      ...page.objects.map(({ key, size, etag, modified }) =>
        group(
          'Contents',
          tag('Key', encode(key)),
          tag('LastModified', new Date(modified).toISOString()),
          tag('ETag', `"${etag}"`),
          tag('Size', size),
          tag('StorageClass', 'STANDARD'),
        ),
      ),
      ...page.commonPrefixes.map((common) => group('CommonPrefixes', tag('Prefix', encode(common)))),
    ),
  );
}

/** Return the encoding of keys: unchanged or percent-encoded. @throws S3Error InvalidArgument */
export function keyEncoding(query: ReadonlyMap<string, string>): (key: string) => string {
  const type = query.get('encoding-type');
  if (type === undefined) return (key) => key;
  if (type !== 'url') {
    throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request', {
      ArgumentName: 'encoding-type',
    });
  }
  return encodePath;
}

/** Parse a page size or a position. Cap larger sizes, as S3 does. @throws S3Error InvalidArgument */
export function parseCount(query: ReadonlyMap<string, string>, name: string, missing: number): number {
  const text = query.get(name);
  if (text === undefined) return missing;
  if (!/^\d{1,10}$/.test(text) || Number(text) > 0x7fffffff) {
    throw new S3Error('InvalidArgument', `Provided ${name} not an integer or within integer range`, {
      ArgumentName: name,
    });
  }
  return Number(text);
}

/** Maximum page size of every list. */
export const maxPage = 1000;

/** Return the lowest key of the page. A token is that key itself, which the list reveals anyway. */
function position(startAfter: string | undefined, token: string | undefined): Buffer {
  if (token === undefined) {
    return startAfter === undefined ? Buffer.alloc(0) : Buffer.from(`${startAfter}\0`);
  }
  const bytes = Buffer.from(token, 'base64url');
  if (token === '' || bytes.toString('base64url') !== token) {
    throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect', {
      ArgumentName: 'continuation-token',
    });
  }
  return bytes;
}

/** HeadBucket: check whether the bucket exists. */
export function headBucket({ request, response, store, region }: Exchange): void {
  store.objects.requireBucket(request.bucket);
  sendEmpty(response, 200, { 'x-amz-bucket-region': region });
}
