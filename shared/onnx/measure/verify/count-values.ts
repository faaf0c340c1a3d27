import { kernels, partsOf, place, roundedUp } from '../../model/kernels/kernels.ts';
import type { ByteSource } from '../../model/tensor/external-data.ts';

/**
 * Counts values in a source, one part of its bytes at a time. Fills the room after each part with bytes that
 * `among` does not count.
 */
function countParts(source: ByteSource, filler: number, among: (at: number, end: number) => number): number {
  const { bytes: room } = kernels();
  let count = 0;
  for (const { end } of partsOf(source)) {
    // `place.values` is a multiple of sixteen itself.
    const filled = roundedUp(end, 16);
    room.fill(filler, end, filled);
    count += among(place.values, filled);
  }
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
