/** How often a job sends what it printed and measured, in milliseconds. Each time costs four write units of the table. */
export const shippingPace = {
  /** Log lines, while somebody reads them. */
  watchedLog: 500,
  /** Metrics, while somebody reads them. */
  watchedMetrics: 1_000,
  /** Either, while nobody does. */
  unwatched: 10_000,
  /** How often a job with something to send asks whether somebody reads. */
  question: 1_000,
} as const;
