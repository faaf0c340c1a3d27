/** Milliseconds between two writes of a job's log and metrics. Each write costs four write units of the table. */
export const shippingPace = {
  /** Log lines, while a client reads them. The first ones after a pause go at once. */
  watchedLog: 2_000,
  /** Metrics, while a client reads them, likewise. Live answers follow them, at most 0.3 a second. */
  watchedMetrics: 3_500,
  /** Log lines and metrics, while no client reads them. */
  unwatched: 10_000,
  /** Metrics of the machine, while a client reads metrics. */
  watchedSystem: 10_000,
  /** Metrics of the machine, while no client reads metrics. */
  unwatchedSystem: 60_000,
  /** How often a job with rows to send checks whether a client reads. */
  question: 1_000,
} as const;
