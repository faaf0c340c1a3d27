import { seededRandom } from '../seeded-random.ts';

/** Bytes that mean something at many places: ends of numbers, and the largest ones. */
const telling = [0, 1, 0x7f, 0x80, 0xff];

/** A copy of the bytes that is broken in one of several ways, decided by the seed. */
export function mutated(bytes: Uint8Array, seed: number): Uint8Array {
  const random = seededRandom(seed);
  const below = (end: number): number => Math.floor(random() * end);
  const copy = Uint8Array.from(bytes);
  // What says how the rest is to be read lies at the ends of the file and between the weights.
  const place = (): number => {
    const where = random();
    if (where < 0.45) return below(Math.min(700, copy.length));
    return where < 0.6 ? copy.length - 1 - below(Math.min(300, copy.length)) : below(copy.length);
  };
  switch (below(5)) {
    case 0:
      return copy.subarray(0, below(copy.length));
    case 1: {
      const [from, to, length] = [below(copy.length), place(), 1 + below(64)];
      copy.set(bytes.subarray(from, Math.min(from + length, copy.length - to + from)), to);
      return copy;
    }
    case 2: {
      const at = place();
      const more = Uint8Array.from({ length: 1 + below(16) }, () => telling[below(telling.length)] ?? 0);
      return Buffer.concat([copy.subarray(0, at), more, copy.subarray(at)]);
    }
    case 3:
      copy.fill(0xff, place(), place());
      return copy;
    default:
      for (let count = 1 + below(6); count > 0; count -= 1) {
        copy[place()] = random() < 0.5 ? (telling[below(telling.length)] ?? 0) : below(256);
      }
      return copy;
  }
}
