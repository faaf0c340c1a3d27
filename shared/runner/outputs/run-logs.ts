import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import type { TrainingRun } from '../job/training-job.ts';
import type { OpenFile } from './upload/file-bytes.ts';

/** Stores what the program of a run logs through a client. Each call resolves once it is stored. */
export interface RunLogs {
  /** Points of metrics; those that are stored already are left out. @throws ConditionFailedError once the lease is lost */
  points(points: readonly MetricPoint[]): Promise<void>;
  /** A file among the artifacts. @throws ArtifactLimitError, JobError; LeaseLostError */
  file(path: string, file: OpenFile): Promise<void>;
}

/** A server for the clients of a run's program. */
export interface RunTracking {
  /** Variables by which clients find it. */
  env: Readonly<Record<string, string>>;
  /** End what the program has begun and not ended, as well as it ended itself. */
  close(hasSucceeded: boolean): Promise<void>;
}

/** Starts the server of a run on node 0. */
export type OpenTracking = (run: TrainingRun, logs: RunLogs) => Promise<RunTracking>;
