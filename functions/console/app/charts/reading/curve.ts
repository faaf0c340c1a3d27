/** A reported curve in the order of arrival, including NaN and infinities. */
export interface Curve {
  steps: (number | null)[];
  /** Epoch milliseconds. */
  times: number[];
  values: number[];
  /** Number of reported points, if the service has thinned the curve. */
  reported?: number;
}
