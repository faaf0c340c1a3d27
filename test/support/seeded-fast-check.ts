import fc from 'fast-check';

/**
 * fast-check with a fixed seed, so that a test which passes once passes on every clone. `npm run test:fuzz` draws another
 * seed each time and prints it; `FUZZ_SEED` sets one.
 */
fc.configureGlobal({ seed: Number(process.env['FUZZ_SEED'] ?? 20_260_101) });

export default fc;
