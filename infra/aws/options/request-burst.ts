/**
 * Return the request burst of the stage: half of the account's quota of concurrent functions. The other half is
 * for steady requests (50 per second of a tenth of a second each are 5 at once) and for functions that events
 * start. The stage refuses further requests with 429, which is cheaper than a function.
 */
export const burstFor = (concurrency = minConcurrency): number =>
  Math.min(maxBurst, Math.floor(concurrency / 2));

/** Quota of a new account, and the default before the account's quota is known. */
export const minConcurrency = 10;

const maxBurst = 100;

/** Lowest quota that allows the maximum burst. */
export const fullBurstConcurrency = 2 * maxBurst;
