import type { ChartedPoint } from './charted-point.ts';
import { thinOut } from './thin-out.ts';

/** Points that a line is drawn with at most. */
export const pointsMost = 1000;
/** How many are kept until they are thinned out, so that a metric of millions of points takes no more memory. */
const keptMost = 8 * pointsMost;
/** Differences of larger numbers may overflow. */
const largest = 1e300;

const bounded = (value: number): number => Math.min(largest, Math.max(-largest, value));

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

/** All points of one metric, of which those are kept that its line needs. */
export class MetricSeries {
  readonly name: string;
  #reports: Report[] = [];
  #last: Report | undefined;
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
    return this.#last?.value;
  }

  add({ step, time, value }: ChartedPoint): void {
    const report = { step, time, value };
    if (step === null) this.#hasSteps = false;
    this.#earliest = Math.min(this.#earliest, report.time);
    this.#latest = Math.max(this.#latest, report.time);
    this.#last = report;
    this.#reports.push(report);
    if (this.#reports.length > keptMost) this.#reports = this.drawn(({ step, time }) => step ?? time);
  }

  /** The line, by x, of at most 1,000 points: its lowest, its highest and its ends are among them. */
  drawn(xOf: (report: Report) => number): DrawnPoint[] {
    const points = this.#reports.map((report) => ({
      ...report,
      x: bounded(xOf(report)),
      y: bounded(report.value),
    }));
    return thinOut(points, pointsMost);
  }
}
