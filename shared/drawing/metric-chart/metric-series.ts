import { CurveBuckets, type CurvePoint } from './curve-buckets.ts';
import { thinOut } from './thin-out.ts';

/** Points that a line is drawn with at most. */
export const maxPoints = 1000;

/** How many are kept, so that a metric of millions of points takes no more memory. */
const maxKept = 4 * maxPoints;

interface Report {
  step: number | null;
  /** Epoch milliseconds. */
  time: number;
  value: number;
}

/** A point to draw: its position and text. */
export interface DrawnPoint extends Report {
  x: number;
  y: number;
}

/** One metric, thinned out while its points come to those that its line needs. */
export class MetricSeries {
  readonly name: string;
  readonly #curve = new CurveBuckets(maxKept);
  #count = 0;
  #last: number | undefined;
  #hasSteps = true;
  #earliest = Number.POSITIVE_INFINITY;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(name: string) {
    this.name = name;
  }

  /** Whether every point names its step. */
  get hasSteps(): boolean {
    return this.#hasSteps;
  }

  /** First and last time, in epoch milliseconds. */
  get times(): readonly [number, number] {
    return [this.#earliest, this.#latest];
  }

  /** The value that was reported last. */
  get last(): number | undefined {
    return this.#last;
  }

  /** @param step NaN for none */
  add(value: number, step: number, time: number): void {
    const hasStep = !Number.isNaN(step);
    if (!hasStep) this.#hasSteps = false;
    if (time < this.#earliest) this.#earliest = time;
    if (time > this.#latest) this.#latest = time;
    this.#last = value;
    this.#curve.add(hasStep ? step : time, value, this.#count, step, time);
    this.#count += 1;
  }

  /** The line, by x, of at most 1,000 points: its lowest, its highest and its ends are among them. */
  drawn(xOf: (report: Report) => number): DrawnPoint[] {
    const points = this.#curve.points().map((point) => {
      const report = reportOf(point);
      return { ...report, x: bounded(xOf(report)), y: bounded(report.value) };
    });
    return thinOut(points, maxPoints);
  }
}

const reportOf = ({ step, time, y }: CurvePoint): Report => ({
  step: Number.isNaN(step) ? null : step,
  time,
  value: y,
});

/** Differences of larger numbers may overflow. */
const largest = 1e300;

const bounded = (value: number): number => Math.min(largest, Math.max(-largest, value));

/** Points of one metric in the order of report, the same index in each column. */
export interface ChartedRun {
  name: string;
  /** NaN stands for none. */
  steps: Float64Array;
  /** Epoch milliseconds. */
  times: Float64Array;
  values: Float64Array;
}
