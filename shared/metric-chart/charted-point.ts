/** One value of a metric as a job reported it. */
export interface ChartedPoint {
  name: string;
  value: number;
  /** Of the training, such as an epoch; null where none was reported. */
  step: number | null;
  /** Milliseconds since 1970. */
  time: number;
}
