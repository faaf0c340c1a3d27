/**
 * Requests at once that the stage lets through, from the number of functions that the account may run at once: half of
 * it. The other half is for requests that come steadily (50 a second, a tenth of a second each, are 5 at once) and for
 * functions that events start. What is above it meets a 429 of the stage, which is cheaper than a function.
 */
export const burstFor = (concurrency = minConcurrency): number =>
  Math.min(maxBurst, Math.floor(concurrency / 2));

/** The quota of a new account: the default until the account was asked. */
export const minConcurrency = 10;

const maxBurst = 100;

/** Quota from which on the burst is no longer held down by it. */
export const fullBurstConcurrency = 2 * maxBurst;
