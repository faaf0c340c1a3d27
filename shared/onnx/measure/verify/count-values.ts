import { kernels, partsOf, place } from '../../model/kernels/kernels.ts';
import type { ByteSource } from '../../model/tensor/external-data.ts';

/** Counts values in a source, one part of its bytes at a time. `among` does not count the filler. */
function countParts(source: ByteSource, filler: number, among: (at: number, end: number) => number): number {
  let count = 0;
  for (const { padded } of partsOf(source, filler)) count += among(place.values, padded);
  return count;
}

/** Count the float32 values other than zero and minus zero. */
export const nonzeroFloat32 = (source: ByteSource): number =>
  source.byteLength / 4 - countParts(source, 1, kernels().zeros);

/** Count the occurrences of a byte. */
export const countByte = (source: ByteSource, wanted: number): number =>
  countParts(source, wanted ^ 1, (at, end) => kernels().matches(at, end, wanted));

/** Count the halves other than zero and minus zero. */
export const nonzeroFloat16 = (source: ByteSource): number =>
  source.byteLength / 2 - countParts(source, 1, kernels().zeroHalves);

/** Count the occurrences of a value of four bits. */
export const countNibble = (source: ByteSource, nibble: number): number =>
  countParts(source, (nibble ^ 1) * 17, (at, end) => kernels().matchingNibbles(at, end, nibble));
