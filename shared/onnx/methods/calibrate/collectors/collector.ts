import type { CalibrationRanges } from '../ranges.ts';

/**
 * Find the ranges of activations from their values, sample by sample. The memory does not grow with the number of
 * samples.
 */
export interface Collector {
  /** Add the values of an activation for one sample. The collector does not keep them. */
  add(name: string, values: Float32Array): void;
  /** Return the range of every activation that had a number. */
  ranges(): CalibrationRanges;
}
