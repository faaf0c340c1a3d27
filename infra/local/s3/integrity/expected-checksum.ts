import { S3Error } from '../protocol/s3-error.ts';
import { type Checksum, type ChecksumAlgorithm, isChecksumValue, parseAlgorithm } from './checksum.ts';

const checksumPrefix = 'x-amz-checksum-';
/** Headers of that prefix that carry no checksum. */
const withoutValue = new Set([
  `${checksumPrefix}mode`,
  `${checksumPrefix}type`,
  `${checksumPrefix}algorithm`,
]);

/** The checksum of a body as its request's headers announce it. */
export interface ExpectedChecksum {
  algorithm: ChecksumAlgorithm;
  /** Absent where it follows the body as a trailer. */
  value: string | undefined;
}

/** The checksum given as a header, or undefined. @throws S3Error InvalidRequest */
export function headerChecksum(headers: ReadonlyMap<string, string>): Checksum | undefined {
  const names = [...headers.keys()].filter(
    (name) => name.startsWith(checksumPrefix) && !withoutValue.has(name),
  );
  const [name] = names;
  if (name === undefined) return undefined;
  if (names.length > 1) {
    throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header. Multiple were given.');
  }
  return { algorithm: parseAlgorithm(name.slice(checksumPrefix.length)), value: headers.get(name) ?? '' };
}

/**
 * Reads `x-amz-checksum-*`, `x-amz-trailer` and `x-amz-sdk-checksum-algorithm`; undefined where there is none.
 * @throws S3Error InvalidRequest where they contradict each other
 */
export function expectedChecksum(
  headers: ReadonlyMap<string, string>,
  hasTrailer: boolean,
): ExpectedChecksum | undefined {
  const inHeader = headerChecksum(headers);
  const trailer = headers.get('x-amz-trailer');
  if (trailer !== undefined && !hasTrailer) {
    throw new S3Error('InvalidRequest', 'x-amz-trailer needs a payload that is streamed with a trailer.');
  }
  if (inHeader !== undefined && trailer !== undefined) {
    throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header or trailer.');
  }
  if (inHeader !== undefined && !isChecksumValue(inHeader)) {
    throw new S3Error(
      'InvalidRequest',
      `Value for ${checksumPrefix}${inHeader.algorithm.toLowerCase()} is invalid.`,
    );
  }
  const expected = inHeader ?? fromTrailer(trailer);
  const sdk = headers.get('x-amz-sdk-checksum-algorithm');
  if (sdk !== undefined && parseAlgorithm(sdk) !== expected?.algorithm) {
    throw new S3Error(
      'InvalidRequest',
      'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
    );
  }
  return expected;
}

function fromTrailer(trailer: string | undefined): ExpectedChecksum | undefined {
  if (trailer === undefined) return undefined;
  const name = trailer.trim().toLowerCase();
  if (!name.startsWith(checksumPrefix)) {
    throw new S3Error('InvalidRequest', 'The value specified in the x-amz-trailer header is not supported');
  }
  return { algorithm: parseAlgorithm(name.slice(checksumPrefix.length)), value: undefined };
}
