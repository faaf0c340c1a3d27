import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import type { TrainingRun } from '../job/training-job.ts';
import type { OpenFile } from './upload/file-bytes.ts';

/**
 * Stores the points and files that the program of a run logs through a client. Each call resolves once they are
 * stored.
 */
export interface ClientRecords {
  /**
   * Store points of metrics. Skips those that are already stored. @throws ConditionFailedError once the lease is
   * lost
   */
  points(points: readonly MetricPoint[]): Promise<void>;
  /** Store a file as an artifact. @throws ArtifactLimitError, JobError; LeaseLostError */
  file(path: string, file: OpenFile): Promise<void>;
}

/** A server for the clients of a run's program. */
export interface RunTracking {
  /** Variables that point clients to it. */
  env: Readonly<Record<string, string>>;
  /** End the runs that the program left open, with the status of the program. */
  close(hasSucceeded: boolean): Promise<void>;
}

/** Starts the server of a run on node 0. */
export type OpenTracking = (run: TrainingRun, logs: ClientRecords) => Promise<RunTracking>;
