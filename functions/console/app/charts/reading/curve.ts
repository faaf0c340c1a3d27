/** A reported curve in the order of arrival, including NaN and infinities. */
export interface Curve {
  steps: (number | null)[];
  /** Epoch milliseconds. */
  times: number[];
  values: number[];
  /** Number of reported points, if the service has thinned the curve. */
  reported?: number;
}

/** Return the value at the end of a curve: that of its greatest step, and of equal steps the last one. */
export function endOf(curve: Curve | undefined): number | undefined {
  if (curve === undefined || curve.values.length === 0) return undefined;
  let end = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < curve.values.length; index += 1) {
    const step = curve.steps[index] ?? index;
    if (step >= most) [end, most] = [index, step];
  }
  return curve.values[end];
}
