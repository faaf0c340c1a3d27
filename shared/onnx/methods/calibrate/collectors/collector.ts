import type { CalibrationRanges } from '../ranges.ts';

/** Finds the ranges of activations from their values, sample after sample. Its memory does not grow with the samples. */
export interface Collector {
  /** Takes the values of an activation for one sample. They are not kept. */
  add(name: string, values: Float32Array): void;
  /** The range of every activation that had a number. */
  ranges(): CalibrationRanges;
}
