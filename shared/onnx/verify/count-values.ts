import { kernels, place, roundedUp, valuesMost } from '../kernels/kernels.ts';

/** So many bytes are looked at at once. */
const partBytes = 4 * valuesMost;

/** Counts among bytes, a part at a time; what follows the last one is filled with bytes that do not count. */
function countParts(bytes: Uint8Array, filler: number, among: (at: number, end: number) => number): number {
  const { bytes: room } = kernels();
  let count = 0;
  for (let start = 0; start < bytes.length; start += partBytes) {
    const part = bytes.subarray(start, start + partBytes);
    const [last, end] = [place.values + part.length, place.values + roundedUp(part.length, 16)];
    room.set(part, place.values);
    room.fill(filler, last, end);
    count += among(place.values, end);
  }
  return count;
}

/** Values of float32 other than zero and minus zero. */
export const nonzeroFloat32 = (bytes: Uint8Array): number =>
  bytes.length / 4 - countParts(bytes, 1, kernels().zeros);

/** How often a byte occurs. */
export const countByte = (bytes: Uint8Array, wanted: number): number =>
  countParts(bytes, wanted ^ 1, (at, end) => kernels().matches(at, end, wanted));
