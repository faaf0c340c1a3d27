import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type CrcShape, crc32c, crc64nvme, crcCombiner } from './crc.ts';
import { S3Error } from './s3-error.ts';

export interface Checksum {
  algorithm: ChecksumAlgorithm;
  /** Base64 of the big-endian value. A composite value ends with `-` and the number of parts. */
  value: string;
}

export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

/** Supported checksum algorithms of S3, by their names in headers and responses. */
export const checksumAlgorithms = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;

/** An incremental checksum. */
export interface RunningChecksum {
  update(data: Uint8Array): void;
  digest(): Buffer;
}

/** CRCs that can be combined without reading the data again. */
export const crcShapes: Readonly<Partial<Record<ChecksumAlgorithm, CrcShape>>> = {
  CRC32: { width: 32n, polynomial: 0xedb88320n },
  CRC32C: { width: 32n, polynomial: 0x82f63b78n },
  CRC64NVME: { width: 64n, polynomial: 0x9a6c9329ac4bc9b5n },
};

/** Return the header or trailer name for checksums of the algorithm. */
export function checksumHeader(algorithm: ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** Return the XML element name for checksums of the algorithm. */
export function checksumElement(algorithm: ChecksumAlgorithm): string {
  return `Checksum${algorithm}`;
}

/** Find an algorithm by its name in upper or lower case. @throws S3Error InvalidRequest */
export function parseAlgorithm(name: string): ChecksumAlgorithm {
  const checksumAlgorithm = checksumAlgorithms.find((algorithm) => algorithm === name.toUpperCase());
  if (checksumAlgorithm === undefined) {
    throw new S3Error(
      'InvalidRequest',
      `The checksum algorithm is not one of ${checksumAlgorithms.join(', ')}.`,
    );
  }
  return checksumAlgorithm;
}

const digestBytes: Readonly<Record<ChecksumAlgorithm, number>> = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  SHA1: 20,
  SHA256: 32,
};

/** Whether the value is valid base64 of the algorithm's length. */
export function isChecksumValue({ algorithm, value }: Checksum): boolean {
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === digestBytes[algorithm] && bytes.toString('base64') === value;
}

export function crcToBase64(value: bigint, algorithm: ChecksumAlgorithm): string {
  return crcToBytes(value, digestBytes[algorithm]).toString('base64');
}

function crcToBytes(value: bigint, length: number): Buffer {
  return Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex');
}

export function crcFromBase64(value: string): bigint {
  return BigInt(`0x${Buffer.from(value, 'base64').toString('hex')}`);
}

export function startChecksum(algorithm: ChecksumAlgorithm): RunningChecksum {
  if (algorithm === 'SHA1' || algorithm === 'SHA256') {
    const hash = createHash(algorithm.toLowerCase());
    return { update: (data) => void hash.update(data), digest: () => hash.digest() };
  }
  if (algorithm === 'CRC64NVME') {
    let wide = 0n;
    return {
      update: (data) => {
        wide = crc64nvme(data, wide);
      },
      digest: () => crcToBytes(wide, 8),
    };
  }
  const step = algorithm === 'CRC32' ? crc32 : crc32c;
  let value = 0;
  return {
    update: (data) => {
      value = step(data, value);
    },
    digest: () => crcToBytes(BigInt(value), 4),
  };
}

/** Return the composite value of an object with parts: a checksum over their checksums, and their number. */
export function compositeChecksum(algorithm: ChecksumAlgorithm, values: readonly string[]): string {
  const checksum = startChecksum(algorithm);
  for (const value of values) checksum.update(Buffer.from(value, 'base64'));
  return `${checksum.digest().toString('base64')}-${values.length}`;
}

/** Combine the CRCs of parts into the CRC of the whole object, from their values and sizes only. */
export function fullObjectChecksum(
  algorithm: ChecksumAlgorithm,
  parts: readonly { value: string; size: number }[],
): string {
  const shape = crcShapes[algorithm];
  if (shape === undefined) throw new TypeError(`${algorithm} values cannot be joined.`);
  const combine = crcCombiner(shape);
  let joined = 0n;
  for (const { value, size } of parts) joined = combine(joined, crcFromBase64(value), size);
  return crcToBase64(joined, algorithm);
}
