/** `npm test` sends one of eight texts by each way that stores them; `npm run test:fuzz` sends all. */
export const share = process.env['FUZZ_SEED'] === undefined ? 8 : 1;

/** The share of these, each way its own: together the ways send all. */
export const sample = <T>(all: readonly T[], way: number): T[] =>
  all.filter((_, index) => index % share === way % share);
