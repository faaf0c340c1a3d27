/** A value whose channels are to be observed, as the input of a layer. */
export interface ObservedInput {
  /** Name of the value. */
  name: string;
  /** Axis of its channels: -1 for matrix products, 1 for convolutions. */
  axis: number;
  /** How many channels it has. Values of another number are refused. */
  channels: number;
  /** Whether the second moment is needed, which takes 8 · channels² bytes; the rest takes next to nothing. */
  hasMoment: boolean;
}

/** What calibration showed of a value X, taken as [rows, channels]: rows are tokens, pixels and samples alike. */
export interface InputStatistics {
  channels: number;
  /** Rows that were counted; those with NaN or infinity are not. */
  rows: number;
  /** Mean of each channel. */
  mean: Float64Array;
  /** Largest magnitude of each channel. */
  largest: Float64Array;
  /**
   * XᵀX / rows, channels × channels, row-major and symmetric: half the Hessian of the squared error of a product with X,
   * and with `mean` the covariance. Read anew at each call; undefined where it was not asked for.
   */
  moment(): Float64Array | undefined;
}

/** Statistics by the name of the value. Values that no sample had are missing. */
export type CalibrationStatistics = ReadonlyMap<string, InputStatistics>;
