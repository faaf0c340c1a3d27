import { extent, greatest, group, least } from 'd3-array';
import { CurveBuckets, type CurvePoint } from './curve-buckets.ts';

/** Most points of a drawn line. */
const maxPoints = 1000;

/** Maximum number of points kept in memory, even for a metric with millions of points. */
const maxKept = 4 * maxPoints;

interface Report {
  step: number | null;
  /** Epoch milliseconds. */
  time: number;
  value: number;
}

/** A point with its position. */
export interface DrawnPoint extends Report {
  x: number;
  y: number;
}

/** One metric. It thins out its points as they arrive. */
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

  /** Whether every point has a step. */
  get hasSteps(): boolean {
    return this.#hasSteps;
  }

  /** First and last time, in epoch milliseconds. */
  get times(): readonly [number, number] {
    return [this.#earliest, this.#latest];
  }

  /** Last reported value. */
  get last(): number | undefined {
    return this.#last;
  }

  /** @param step step, or NaN if unknown */
  add(value: number, step: number, time: number): void {
    const hasStep = !Number.isNaN(step);
    if (!hasStep) this.#hasSteps = false;
    if (time < this.#earliest) this.#earliest = time;
    if (time > this.#latest) this.#latest = time;
    this.#last = value;
    this.#curve.add(hasStep ? step : time, value, this.#count, step, time);
    this.#count += 1;
  }

  /**
   * Return the line, sorted by x, with at most 1,000 points. It keeps the lowest, the highest, the first and the
   * last point.
   */
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

/** Limit of the values, because differences of larger numbers may overflow. */
const largest = 1e300;

const bounded = (value: number): number => Math.min(largest, Math.max(-largest, value));

/** A point of a line. */
export interface ChartPoint {
  x: number;
  y: number;
}

/**
 * Reduce a line to at most `most` points, sorted by x: the first, the last, and the lowest and highest of equal
 * parts of the x axis. This keeps every visible spike, minimum and maximum.
 */
export function thinOut<P extends ChartPoint>(points: readonly P[], most: number): P[] {
  const sorted = points.toSorted((a, b) => a.x - b.x);
  if (sorted.length <= most) return sorted;
  const [first = 0, last = 0] = extent(sorted, ({ x }) => x);
  const parts = Math.max(1, Math.floor((most - 2) / 2));
  const width = (last - first) / parts || 1;
  const kept = new Set([sorted[0], sorted.at(-1)]);
  for (const part of group(sorted, ({ x }) =>
    Math.min(parts - 1, Math.floor((x - first) / width)),
  ).values()) {
    kept.add(least(part, ({ y }) => y)).add(greatest(part, ({ y }) => y));
  }
  return sorted.filter((place) => kept.has(place));
}

/** Points of one metric as columns, in the order of their reports. */
export interface ChartedRun {
  name: string;
  /** NaN if a point has no step. */
  steps: Float64Array;
  /** Epoch milliseconds. */
  times: Float64Array;
  values: Float64Array;
}
