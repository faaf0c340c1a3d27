import sharp from 'sharp';
import { expect, test } from 'vitest';
import { encodeWebp } from '../../../shared/pictures/webp/encode-webp.ts';
import fc from '../../support/seeded-fast-check.ts';

/** The pixels that libwebp, the format's own library, finds in a file. */
async function decoded(file: Uint8Array): Promise<{ width: number; pixels: number[] }> {
  const { data, info } = await sharp(file).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const pixels = Array.from({ length: info.width * info.height }, (_, index) => {
    const [r = 0, g = 0, b = 0, a = 0] = data.subarray(4 * index, 4 * index + 4);
    return ((a << 24) | (r << 16) | (g << 8) | b) >>> 0;
  });
  return { width: info.width, pixels };
}

/** Shapes of few colours, noise of many, and everything between. */
const drawings = fc
  .record({
    width: fc.integer({ min: 1, max: 70 }),
    height: fc.integer({ min: 1, max: 70 }),
    colours: fc.array(fc.integer({ min: 0, max: 0xffffff }), { minLength: 1, maxLength: 300 }),
    run: fc.integer({ min: 1, max: 500 }),
    seed: fc.integer({ min: 1, max: 1_000_000 }),
  })
  .map(({ width, height, colours, run, seed }) => {
    let state = seed;
    let colour = 0;
    const next = () => {
      state = (state * 48_271) % 2_147_483_647;
      return state;
    };
    const pixels = Uint32Array.from({ length: width * height }, () => {
      if (next() % run === 0) colour = colours[next() % colours.length] ?? 0;
      return (0xff000000 | colour) >>> 0;
    });
    return { width, pixels };
  });

test('a drawing comes back from its WebP file pixel by pixel', async () => {
  await fc.assert(
    fc.asyncProperty(drawings, async ({ width, pixels }) => {
      expect(await decoded(encodeWebp(pixels, width))).toEqual({ width, pixels: [...pixels] });
    }),
    { numRuns: 150 },
  );
});

test('alpha is kept', async () => {
  const pixels = Uint32Array.from({ length: 16 * 16 }, (_, index) => ((index << 24) | 0x804020) >>> 0);
  const back = await decoded(encodeWebp(pixels, 16));
  // Nothing can be seen of a fully transparent pixel, and libwebp may change what it is.
  expect(back.pixels.slice(1)).toEqual([...pixels.slice(1)]);
});

test('very unequal frequencies do not make codes longer than the format allows', async () => {
  // Fibonacci numbers as counts make the deepest of all Huffman trees: 19 symbols would take 18 bits.
  const counts = [1, 1];
  while (counts.length < 19) counts.push((counts.at(-1) ?? 0) + (counts.at(-2) ?? 0));
  const greens = counts.flatMap((count, symbol) => Array.from({ length: count }, () => symbol));
  // No pixel resembles its neighbours, so that each is written as it is.
  const pixels = Uint32Array.from(greens, (green, at) => (0xff000000 | (green << 8) | (at % 251)) >>> 0);
  expect(await decoded(encodeWebp(pixels, 1))).toEqual({ width: 1, pixels: [...pixels] });
});

test('a large flat picture is small', () => {
  expect(encodeWebp(new Uint32Array(512 * 512).fill(0xff336699), 512).length).toBeLessThan(150);
});
