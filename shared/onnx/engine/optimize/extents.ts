import type { Measure } from '../../strategies/measure.ts';

/** How much a receipt measures. */
interface Extent {
  /** Seconds after which each model is given no further sample to compare. */
  compareSeconds?: number;
  /** Seconds that timing takes; 0 for none. */
  timeSeconds: number;
  /** Models of more bytes of weights are not run as a whole, but checked layer by layer. */
  wholeBytes: number;
}

/** A quick receipt takes seconds: less than the work of making a result as a rule. */
export const extents: Readonly<Record<Measure, Extent>> = {
  none: { timeSeconds: 0, wholeBytes: Number.POSITIVE_INFINITY },
  quick: { compareSeconds: 1, timeSeconds: 0.5, wholeBytes: 2 ** 30 },
  full: { timeSeconds: 120, wholeBytes: Number.POSITIVE_INFINITY },
};
