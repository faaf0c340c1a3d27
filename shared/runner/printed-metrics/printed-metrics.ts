/** Metrics that a program printed, at one step. */
export interface PrintedMetrics {
  /** Null if the line states none. */
  step: number | null;
  /** Whether the step is the epoch of a line within it, so several lines have the same. */
  isWithin?: boolean;
  /** Whether it is the result of a trial, which a search within the program reports. */
  isOfTrial?: true;
  values: readonly (readonly [name: string, value: number])[];
}

/** What a recognizer of one line found. */
export interface FoundLine extends PrintedMetrics {
  /** Whether a later line of the same pass over the data replaces it. */
  isPartial?: boolean;
  /** Epoch that following lines belong to. */
  epoch?: number;
}
