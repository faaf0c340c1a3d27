import type { ByteSource } from '../tensor/byte-source.ts';
import { kernels, maxValues, place } from './kernels.ts';

const partBytes = 4 * maxValues;

/** Brings bytes to `place.values`, a part at a time: where the part begins among them, and the address where it ends. */
export function* partsOf({ byteLength, read }: ByteSource): Generator<{ from: number; end: number }> {
  const { bytes: room } = kernels();
  for (let from = 0; from < byteLength; from += partBytes) {
    const end = place.values + Math.min(partBytes, byteLength - from);
    read(room.subarray(place.values, end), from);
    yield { from, end };
  }
}
