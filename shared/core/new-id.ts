import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

const drawn = new Uint8Array(1024);
let used = drawn.length;

/**
 * Random number in [0, 1) from one byte of the system's generator. `ulid` calls this for each of 16 characters.
 */
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
 * Return a new id: a ULID in lower case. Ids sort by creation time.
 * @param time milliseconds; the present time by default
 */
export const newId = (time?: number): string => ulid(time, random).toLowerCase();
