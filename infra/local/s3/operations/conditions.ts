import { S3Error } from '../protocol/s3-error.ts';
import { preconditionFailed, type WriteCondition } from '../store/object-store.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { validatorHeaders } from './object-headers.ts';

/**
 * Check the conditions of a read in the order of RFC 9110. `prefix` is the header prefix of CopyObject's
 * conditions on its source. For these, 304 has no meaning and becomes 412.
 * @throws S3Error PreconditionFailed, NotModified
 */
export function requireReadConditions(
  headers: ReadonlyMap<string, string>,
  stored: StoredObject,
  prefix: '' | 'x-amz-copy-source-' = '',
): void {
  const ifMatch = headers.get(`${prefix}if-match`);
  const ifNoneMatch = headers.get(`${prefix}if-none-match`);
  const unmodifiedSince = parseDate(headers.get(`${prefix}if-unmodified-since`));
  const modifiedSince = parseDate(headers.get(`${prefix}if-modified-since`));
  const modified = Math.floor(stored.modified / 1000) * 1000;
  if (ifMatch !== undefined) {
    if (!matches(ifMatch, stored.etag)) throw preconditionFailed('If-Match');
  } else if (unmodifiedSince !== undefined && modified > unmodifiedSince) {
    throw preconditionFailed('If-Unmodified-Since');
  }
  const unchanged =
    ifNoneMatch !== undefined
      ? matches(ifNoneMatch, stored.etag)
      : modifiedSince !== undefined && modified <= modifiedSince;
  if (!unchanged) return;
  if (prefix !== '') throw preconditionFailed('If-None-Match');
  throw new S3Error('NotModified', 'Not Modified', {}, validatorHeaders(stored));
}

function parseDate(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

function matches(list: string, etag: string): boolean {
  return list.split(',').some((entry) => ['*', etag].includes(unquote(entry)));
}

/** Remove the quotes and the weakness mark of an ETag. */
export function unquote(etag: string): string {
  return etag.trim().replace(/^(?:W\/)?"(.*)"$/, '$1');
}

/** Parse `If-Match` and `If-None-Match` of a write. @throws S3Error InvalidArgument, NotImplemented */
export function writeCondition(headers: ReadonlyMap<string, string>): WriteCondition {
  const ifMatch = headers.get('if-match');
  const ifNoneMatch = headers.get('if-none-match');
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw new S3Error('NotImplemented', 'Writes take If-None-Match only with the value *.', {
      Header: 'If-None-Match',
    });
  }
  if (ifMatch !== undefined && ifNoneMatch !== undefined) {
    throw new S3Error('InvalidArgument', 'If-Match and If-None-Match exclude each other.');
  }
  return {
    ifMatch: ifMatch === undefined ? undefined : unquote(ifMatch),
    ifNoneMatch: ifNoneMatch !== undefined,
  };
}
