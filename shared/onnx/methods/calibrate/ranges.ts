/** Smallest and largest float32 value that an activation is expected to take. */
export interface Range {
  min: number;
  max: number;
}

/** Ranges of activations by their names. */
export type CalibrationRanges = ReadonlyMap<string, Range>;
