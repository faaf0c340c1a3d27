import { type ChecksumAlgorithm, crcFromBase64, crcShapes, crcToBase64, startChecksum } from './checksum.ts';
import { crcCombiner } from './crc-combine.ts';

/** The value for an object made of parts: a checksum over their checksums, and their number. */
export function compositeChecksum(algorithm: ChecksumAlgorithm, values: readonly string[]): string {
  const checksum = startChecksum(algorithm);
  for (const value of values) checksum.update(Buffer.from(value, 'base64'));
  return `${checksum.digest().toString('base64')}-${values.length}`;
}

/** The value of the joined bytes of parts, from the parts' values and sizes alone; CRCs only. */
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
