/**
 * Return a source of uniform numbers in [0, 1) that depends on these words alone, such as a seed, the number of a
 * trial and a parameter. The same words always give the same numbers, on every machine.
 *
 * Words are hashed by cyrb128 (bryc, public domain); the generator is sfc32 of PractRand (Doty-Humphrey), whose 32
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

function hash128(text: string): [number, number, number, number] {
  let [h1, h2, h3, h4] = [1_779_033_703, 3_144_134_277, 1_013_904_242, 2_773_480_762];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    h1 = h2 ^ Math.imul(h1 ^ unit, 597_399_067);
    h2 = h3 ^ Math.imul(h2 ^ unit, 2_869_860_233);
    h3 = h4 ^ Math.imul(h3 ^ unit, 951_274_213);
    h4 = h1 ^ Math.imul(h4 ^ unit, 2_716_044_179);
  }
  h1 = Math.imul(h3 ^ (h1 >>> 18), 597_399_067);
  h2 = Math.imul(h4 ^ (h2 >>> 22), 2_869_860_233);
  h3 = Math.imul(h1 ^ (h3 >>> 17), 951_274_213);
  h4 = Math.imul(h2 ^ (h4 >>> 19), 2_716_044_179);
  const all = h1 ^ h2 ^ h3 ^ h4;
  return [all, h2 ^ all, h3 ^ all, h4 ^ all];
}
