/** `npm test` sends one of sixteen texts by each way that stores them; `npm run proof -- fuzz` sends all. */
export const share = process.env['FUZZ_SEED'] === undefined ? 16 : 1;

/** The share of these that a way sends: each way has its own. */
export const sample = <T>(all: readonly T[], way: number): T[] =>
  all.filter((_, index) => index % share === way % share);
