import fc from 'fast-check';

/**
 * fast-check with a fixed seed, so that a test which passes once passes on every clone. `npm run proof -- fuzz` draws another
 * seed each time and prints it; `FUZZ_SEED` sets one.
 */
fc.configureGlobal({ seed: Number(process.env['FUZZ_SEED'] ?? 20_260_101) });

/** Runs of a drawn test: `npm test` makes an eighth of what `npm run proof -- fuzz` does with its seed. */
export const runs = (many: number): number =>
  process.env['FUZZ_SEED'] === undefined ? Math.ceil(many / 8) : many;

/**
 * Strings of any code points, lone surrogates included. The library's own (`unit: 'binary'`) first makes a table of all
 * million of them, in each process.
 */
export const anyText = ({ minLength = 0, maxLength }: { minLength?: number; maxLength: number }) =>
  fc
    .array(fc.integer({ min: 0, max: 0x10ffff }), { minLength, maxLength })
    .map((points) => String.fromCodePoint(...points));

export default fc;
