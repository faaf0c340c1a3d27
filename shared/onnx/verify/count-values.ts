/** Crooked values are copied to be read, so many bytes at once. */
const partBytes = 2 ** 18;

/** Bits of a float32 without its sign, doubled: 0 for zero and minus zero. */
const magnitude = (word: number | undefined): number => (word ?? 0) << 1;

/** Words of four bytes, a part at a time: the same bytes where they lie straight, else copies. */
function* wordsOf(bytes: Uint8Array): Generator<Int32Array> {
  for (let start = 0; start < bytes.length; start += partBytes) {
    const part = bytes.subarray(start, start + partBytes);
    const { buffer, byteOffset, length } = part.byteOffset % 4 === 0 ? part : new Uint8Array(part);
    yield new Int32Array(buffer, byteOffset, length >> 2);
  }
}

/** Of a trained model hardly any value is zero: four are tested at once. */
function zerosAmong(words: Int32Array): number {
  const quads = words.length - (words.length % 4);
  let zeros = 0;
  let at = 0;
  for (; at < quads; at += 4) {
    const a = magnitude(words[at]);
    const b = magnitude(words[at + 1]);
    const c = magnitude(words[at + 2]);
    const d = magnitude(words[at + 3]);
    if (a !== 0 && b !== 0 && c !== 0 && d !== 0) continue;
    zeros += Number(a === 0) + Number(b === 0) + Number(c === 0) + Number(d === 0);
  }
  for (; at < words.length; at += 1) zeros += magnitude(words[at]) === 0 ? 1 : 0;
  return zeros;
}

/** Values of float32 other than zero and minus zero. */
export function nonzeroFloat32(bytes: Uint8Array): number {
  let zeros = 0;
  for (const words of wordsOf(bytes)) zeros += zerosAmong(words);
  return bytes.length / 4 - zeros;
}

const low = 0x7f7f7f7f;

/** Bytes of the words that are those of the pattern: each leaves the top bit of its place, and no other. */
function matchesAmong(words: Int32Array, pattern: number): number {
  let count = 0;
  for (let at = 0; at < words.length; at += 1) {
    const different = (words[at] ?? 0) ^ pattern;
    const found = ~(((different & low) + low) | different | low);
    if (found === 0) continue;
    count += ((found >>> 31) & 1) + ((found >>> 23) & 1) + ((found >>> 15) & 1) + ((found >>> 7) & 1);
  }
  return count;
}

/** How often a byte occurs. */
export function countByte(bytes: Uint8Array, wanted: number): number {
  let count = 0;
  for (const words of wordsOf(bytes)) count += matchesAmong(words, Math.imul(wanted, 0x01010101));
  for (let at = bytes.length & ~3; at < bytes.length; at += 1) count += bytes[at] === wanted ? 1 : 0;
  return count;
}
