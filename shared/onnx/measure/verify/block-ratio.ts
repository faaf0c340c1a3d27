import { Random } from '../session/random.ts';

const resamples = 2000;

/** Quantile of the values, with linear interpolation. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  const at = share * Math.max(0, sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? 0;
  return below + ((sorted[Math.ceil(at)] ?? below) - below) * (at - Math.floor(at));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Bootstrap 95 % interval of the median: percentiles of the medians of samples drawn with replacement. */
export function medianInterval(values: readonly number[], seed: number): [number, number] {
  const random = new Random(seed);
  const medians = Array.from({ length: resamples }, () =>
    median(values.map(() => values[random.below(values.length)] ?? 0)),
  );
  return [quantile(medians, 0.025), quantile(medians, 0.975)];
}
