import type { Scope } from '../../access/sigv4.ts';
import { S3Error, type S3ErrorCode } from './s3-error.ts';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * Reads `key id/yyyymmdd/region/s3/aws4_request` and refuses what is not this server's.
 * @throws S3Error with `malformedCode`, or InvalidAccessKeyId
 */
export function parseCredential(
  text: string,
  own: S3Credentials,
  region: string,
  timestamp: string,
  malformedCode: S3ErrorCode,
): Scope {
  const match = /^([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request$/.exec(text);
  if (match === null) throw new S3Error(malformedCode, 'The credential is malformed.');
  const [, accessKeyId, day = '', givenRegion = '', service = ''] = match;
  if (accessKeyId !== own.accessKeyId) {
    throw new S3Error(
      'InvalidAccessKeyId',
      'The AWS Access Key Id you provided does not exist in our records.',
    );
  }
  if (givenRegion !== region) {
    throw new S3Error(malformedCode, `The region '${givenRegion}' is wrong; expecting '${region}'.`, {
      Region: region,
    });
  }
  if (service !== 's3') throw new S3Error(malformedCode, "The service is wrong; expecting 's3'.");
  if (!timestamp.startsWith(day)) {
    throw new S3Error(malformedCode, 'The date of the credential is not the date of the request.');
  }
  return { day, region: givenRegion, service };
}

/**
 * The signed header names, after checking that all of them are there and that none that matters is missing.
 * @throws S3Error with `malformedCode`, SignatureDoesNotMatch, AccessDenied
 */
export function parseSignedHeaders(
  text: string,
  headers: ReadonlyMap<string, string>,
  malformedCode: S3ErrorCode,
): string[] {
  const names = text.split(';');
  if (!/^[a-z0-9;_-]+$/.test(text) || new Set(names).size !== names.length || !names.includes('host')) {
    throw new S3Error(malformedCode, 'The list of signed headers is malformed or lacks host.');
  }
  const absent = names.filter((name) => !headers.has(name));
  if (absent.length > 0) {
    throw new S3Error('SignatureDoesNotMatch', `Signed headers are missing: ${absent.join(', ')}`);
  }
  const unsigned = [...headers.keys()].filter((name) => name.startsWith('x-amz-') && !names.includes(name));
  if (unsigned.length > 0) {
    throw new S3Error('AccessDenied', 'There were headers present in the request which were not signed', {
      HeadersNotSigned: unsigned.join(', '),
    });
  }
  return names;
}
