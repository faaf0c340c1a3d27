import { checksumHeader } from '../protocol/checksum.ts';
import { S3Error } from '../protocol/s3-error.ts';
import type { StoredHeaders, StoredObject } from '../store/stored-object.ts';

/** Return the request headers to store with the object. @throws S3Error MetadataTooLarge */
export function keptHeaders(headers: ReadonlyMap<string, string>): StoredHeaders {
  const kept: Record<string, string> = {};
  let metaBytes = 0;
  for (const [name, value] of headers) {
    if (name.startsWith(metadataPrefix)) {
      metaBytes += name.length - metadataPrefix.length + value.length;
      kept[name] = value;
    } else if (contentHeaders.includes(name)) {
      kept[name] = value;
    }
  }
  if (metaBytes > maxMetadataBytes) {
    throw new S3Error('MetadataTooLarge', 'Your metadata headers exceed the maximum allowed metadata size', {
      MaxSizeAllowed: String(maxMetadataBytes),
    });
  }
  const encoding = (kept['content-encoding'] ?? '')
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'aws-chunked')
    .join(',');
  delete kept['content-encoding'];
  return {
    ...kept,
    ...(encoding === '' ? {} : { 'content-encoding': encoding }),
    'content-type': kept['content-type'] ?? 'binary/octet-stream',
  };
}

const metadataPrefix = 'x-amz-meta-';

const contentHeaders = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

/** Maximum size of user metadata. S3 counts values, and names without the prefix. */
const maxMetadataBytes = 2048;

const overridePrefix = 'response-';

/** Return the `response-*` parameters of a GET. @throws S3Error InvalidArgument if a value cannot be a header */
export function overriddenHeaders(query: ReadonlyMap<string, string>): StoredHeaders {
  const headers: Record<string, string> = {};
  for (const name of contentHeaders) {
    const value = query.get(`${overridePrefix}${name}`);
    if (value === undefined) continue;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new S3Error('InvalidArgument', 'Header value cannot be represented using ISO-8859-1.', {
        ArgumentName: `${overridePrefix}${name}`,
      });
    }
    headers[name] = value;
  }
  return headers;
}

/** Names of the query parameters for `overriddenHeaders`. */
export const overrideParameters: readonly string[] = contentHeaders.map((name) => `${overridePrefix}${name}`);

/** Return the headers that identify an object's state. */
export function validatorHeaders(stored: Pick<StoredObject, 'etag' | 'modified'>): Record<string, string> {
  return { etag: `"${stored.etag}"`, 'last-modified': new Date(stored.modified).toUTCString() };
}

/** Return the response headers for an object's checksum. */
export function checksumHeaders({ checksum }: Pick<StoredObject, 'checksum'>): Record<string, string> {
  if (checksum === undefined) return {};
  return { [checksumHeader(checksum.algorithm)]: checksum.value, 'x-amz-checksum-type': checksum.type };
}
