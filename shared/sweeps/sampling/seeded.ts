import { hash128 } from './hash.ts';

/**
 * Return a source of uniform numbers in [0, 1) that depends on these words alone, such as a seed, the number of a
 * trial and a parameter. The same words always give the same numbers, on every machine.
 *
 * The words are hashed; the generator is sfc32 of PractRand (Doty-Humphrey), whose 32
 * bits are joined to 53.
 */
export function seeded(...words: readonly (string | number)[]): () => number {
  let [a, b, c, counter] = hash128(words.join('\u0000'));
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round += 1) next();
  return () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53;
}
