/** A curve as it was reported, in the order of arrival. NaN and infinities are kept. */
export interface Curve {
  steps: (number | null)[];
  /** Milliseconds since 1970. */
  times: number[];
  values: number[];
  /** Points that were reported, where the service has thinned the curve out. */
  reported?: number;
}
