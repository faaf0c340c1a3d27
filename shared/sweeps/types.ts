/** Values of one trial by parameter: paths of the configuration, or flags of the command. */
export type Params = Record<string, string | number | boolean>;

/** Outcome of a trial, or of one of its repeats. */
export type TrialStatus = 'running' | 'complete' | 'stopped early' | 'failed' | 'cancelled';

/** A trial as the samplers see it. */
export interface TrialResult {
  /** Number of the trial, from 0. */
  trial: number;
  params: Params;
  /** Mean of its repeats. Null while it runs, if it reported nothing, and for NaN and infinities: the worst value. */
  value: number | null;
  status: TrialStatus;
}

/** Value of the metric that a trial had reported when it reached a rung. */
export interface RungReport {
  trial: number;
  /** Number of the rung, from 0. */
  rung: number;
  step: number;
  /** NaN and infinities are the worst value. */
  value: number;
}
