import { encodePath } from '../../access/sigv4.ts';
import { S3Error } from '../protocol/s3-error.ts';

/** The largest page of any list. */
export const maxPage = 1000;

/** Reads a page size or a position; larger sizes are cut, as S3 does. @throws S3Error InvalidArgument */
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

/** How keys are to be written: as they are, or percent-encoded. @throws S3Error InvalidArgument */
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
