import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

const drawn = new Uint8Array(1024);
let used = drawn.length;

/** A number from 0 to 1, without 1, of a byte that the system drew: the package asks it for each of 16 characters. */
function random(): number {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const byte = drawn[used] ?? 0;
  used += 1;
  return byte / 256;
}

/**
 * A new id: a ULID in lower case, so that ids sort by the time they were made.
 * @param time milliseconds; now without another
 */
export const newId = (time?: number): string => ulid(time, random).toLowerCase();
