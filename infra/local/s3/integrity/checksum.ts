import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { S3Error } from '../protocol/s3-error.ts';
import type { CrcShape } from './crc-combine.ts';
import { crc32c } from './crc32c.ts';
import { crc64nvme } from './crc64nvme.ts';

/** The checksum algorithms of S3 that this server supports, by their name in headers and responses. */
export const checksumAlgorithms = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;
export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

export interface Checksum {
  algorithm: ChecksumAlgorithm;
  /** Base64 of the big-endian value; composite ones end with `-` and the number of parts. */
  value: string;
}

/** A checksum in the making. */
export interface RunningChecksum {
  update(data: Uint8Array): void;
  digest(): Buffer;
}

/** The CRCs whose values can be joined without reading the data again. */
export const crcShapes: Readonly<Partial<Record<ChecksumAlgorithm, CrcShape>>> = {
  CRC32: { width: 32n, polynomial: 0xedb88320n },
  CRC32C: { width: 32n, polynomial: 0x82f63b78n },
  CRC64NVME: { width: 64n, polynomial: 0x9a6c9329ac4bc9b5n },
};

const digestBytes: Readonly<Record<ChecksumAlgorithm, number>> = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  SHA1: 20,
  SHA256: 32,
};

/** The header, and trailer, that carries checksums of the algorithm. */
export function checksumHeader(algorithm: ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** The name of the element that carries checksums of the algorithm. */
export function checksumElement(algorithm: ChecksumAlgorithm): string {
  return `Checksum${algorithm}`;
}

/** The algorithm of that name, in any case. @throws S3Error InvalidRequest */
export function parseAlgorithm(name: string): ChecksumAlgorithm {
  const found = checksumAlgorithms.find((algorithm) => algorithm === name.toUpperCase());
  if (found === undefined) {
    throw new S3Error(
      'InvalidRequest',
      `The checksum algorithm is not one of ${checksumAlgorithms.join(', ')}.`,
    );
  }
  return found;
}

/** Whether the text is the base64 of a value as long as the algorithm's. */
export function isChecksumValue({ algorithm, value }: Checksum): boolean {
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === digestBytes[algorithm] && bytes.toString('base64') === value;
}

/** Base64 of a CRC's value. */
export function crcToBase64(value: bigint, algorithm: ChecksumAlgorithm): string {
  return crcToBytes(value, digestBytes[algorithm]).toString('base64');
}

/** A CRC's value from its base64. */
export function crcFromBase64(value: string): bigint {
  return BigInt(`0x${Buffer.from(value, 'base64').toString('hex')}`);
}

/** Begins a checksum. */
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

function crcToBytes(value: bigint, length: number): Buffer {
  return Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex');
}
