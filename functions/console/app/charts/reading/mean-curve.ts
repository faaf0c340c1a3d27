import type { Curve } from './curve.ts';

/** Mean of some runs' curves, with the curves one deviation below and above it. */
export interface MeanCurve {
  mean: Curve;
  low: Curve;
  high: Curve;
}

/**
 * Compute the mean and the sample standard deviation of curves at each step. Runs that report no finite value at a
 * step do not count there. A point without a step counts at its position. Times are the mean times since the runs'
 * first points, from the first run's first point on.
 */
export function meanCurve(curves: readonly Curve[]): MeanCurve {
  const sums = new Map<number, { count: number; mean: number; squares: number; time: number }>();
  for (const { steps, times, values } of curves) {
    const start = times[0] ?? 0;
    for (const [index, value] of values.entries()) {
      if (!Number.isFinite(value)) continue;
      const step = steps[index] ?? index;
      const sum = sums.get(step) ?? { count: 0, mean: 0, squares: 0, time: 0 };
      sum.count += 1;
      const distance = value - sum.mean;
      sum.mean += distance / sum.count;
      sum.squares += distance * (value - sum.mean);
      sum.time += ((times[index] ?? start) - start - sum.time) / sum.count;
      sums.set(step, sum);
    }
  }
  const found = [...sums].sort(([one], [other]) => one - other);
  const steps = found.map(([step]) => step);
  const start = curves[0]?.times[0] ?? 0;
  const times = found.map(([, { time }]) => start + time);
  const curveAt = (sign: -1 | 0 | 1): Curve => ({
    steps,
    times,
    values: found.map(
      ([, { count, mean, squares }]) => mean + sign * (count < 2 ? 0 : Math.sqrt(squares / (count - 1))),
    ),
  });
  return { mean: curveAt(0), low: curveAt(-1), high: curveAt(1) };
}
