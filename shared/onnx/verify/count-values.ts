import { kernels, place, roundedUp, valuesMost } from '../kernels/kernels.ts';
import type { ByteSource } from '../tensor/byte-source.ts';

/** So many bytes are looked at at once. */
const partBytes = 4 * valuesMost;

/** Counts among bytes, a part at a time; what follows the last one is filled with bytes that do not count. */
function countParts(source: ByteSource, filler: number, among: (at: number, end: number) => number): number {
  const { bytes: room } = kernels();
  let count = 0;
  for (let start = 0; start < source.byteLength; start += partBytes) {
    const length = Math.min(partBytes, source.byteLength - start);
    const [last, end] = [place.values + length, place.values + roundedUp(length, 16)];
    source.read(room.subarray(place.values, last), start);
    room.fill(filler, last, end);
    count += among(place.values, end);
  }
  return count;
}

/** Values of float32 other than zero and minus zero. */
export const nonzeroFloat32 = (source: ByteSource): number =>
  source.byteLength / 4 - countParts(source, 1, kernels().zeros);

/** How often a byte occurs. */
export const countByte = (source: ByteSource, wanted: number): number =>
  countParts(source, wanted ^ 1, (at, end) => kernels().matches(at, end, wanted));
