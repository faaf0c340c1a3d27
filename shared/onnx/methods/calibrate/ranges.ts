/** Smallest and largest expected float32 value of an activation. */
export interface Range {
  min: number;
  max: number;
}

/** Ranges of activations by name. */
export type CalibrationRanges = ReadonlyMap<string, Range>;
