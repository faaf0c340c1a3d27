import type { TrialResult, TrialStatus } from './types.ts';

/** One run of a trial: its outcome so far, and the value of the metric that it ended with. */
export interface Repeat {
  status: TrialStatus;
  /** Null if the run reported no value. */
  value: number | null;
}

/**
 * Return the value of a trial: the mean of its repeats, and their sample standard deviation.
 * A repeat without a finite value makes the mean null, because a setting that diverges once in three is not good.
 * Cancelled repeats do not count.
 */
export function repeatedValue(
  repeats: readonly Repeat[],
): Pick<TrialResult, 'value'> & { deviation: number | null } {
  const counted = repeats.filter(({ status }) => status !== 'cancelled' && status !== 'running');
  const values = counted.map(({ value }) => value).filter(isFiniteNumber);
  if (values.length === 0 || values.length < counted.length) return { value: null, deviation: null };
  const mean = values.reduce((sum, value) => sum + value / values.length, 0);
  if (values.length === 1) return { value: mean, deviation: null };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { value: mean, deviation: Math.sqrt(squares / (values.length - 1)) };
}

const isFiniteNumber = (value: number | null): value is number => value !== null && Number.isFinite(value);
