/** Milliseconds between two writes of a job's log and metrics. Each write costs four to six write units of the table. */
export const shippingPace = {
  /** Log lines, while a client reads them. The first ones after a pause go at once. */
  watchedLog: 2_000,
  /** Metrics, while a client reads them, likewise. Live answers follow them, at most 0.3 a second. */
  watchedMetrics: 3_500,
  /** Log lines and metrics, while no client reads them; {@link stretched}. */
  unwatched: 10_000,
  /** Metrics of the machine, while a client reads metrics. */
  watchedSystem: 10_000,
  /** Metrics of the machine, while no client reads metrics; {@link stretched}. */
  unwatchedSystem: 60_000,
  /** How often a job with rows to send checks whether a client reads; {@link stretched}. */
  question: 1_000,
} as const;

/**
 * Return a pause that nobody waits for: it grows with the age of a job to six times its first length. A new job shows at
 * once what it does, and one that runs for hours costs a sixth.
 * @param age milliseconds
 */
export const stretched = (pause: number, age: number): number =>
  Math.min(longestStretch, Math.max(1, age / (growth * pause))) * pause;

const longestStretch = 6;

/** Pauses after which one begins to grow. */
const growth = 2;
