import type { ObjectWriter } from '../../aws/objects.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import type { LogLine } from '../../data/jobs/job-log.ts';
import type { CommandUser } from '../../host/host.ts';
import type { SecretMask } from '../host/secret-mask.ts';
import type { HeldJob } from './hold-job.ts';
import type { JobError } from './job-error.ts';
import type { JobProgress } from './job-progress.ts';
import type { Ride } from './ride.ts';
import type { TrainingContainer } from './training-container.ts';
import type { Workspace } from './workspace.ts';

/** A node of a training whose lease this container holds. */
export interface TrainingJob extends HeldJob<Experiment> {
  container: TrainingContainer;
  objects: ObjectWriter;
  progress: JobProgress;
}

/** The log of a run. Receives the command's output and the service's messages. */
interface RunLog {
  output(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void>;
  say(message: string): void;
  /** Hand every kept line of the command's output to a reader, too. */
  listen(listener: (stream: 'stdout' | 'stderr', lines: readonly string[], chunk?: Buffer) => void): void;
  /** Hand the lines that wait to the writer of something else. */
  ride(): Ride<LogLine> | undefined;
  /** Add a last line without line end, once the command has ended. */
  endOutput(): void;
}

/** The project's environment variables at the job's submission. */
export interface ProjectVariables {
  values: Readonly<Record<string, string>>;
  /** Masks the secret ones. */
  mask: SecretMask;
  /** Set if they cannot be read. The job then fails. */
  fault?: JobError;
}

/** A job with its workspace, user and log. Every phase of a training receives it. */
export interface TrainingRun {
  job: TrainingJob;
  workspace: Workspace;
  /** User of the training's programs; undefined if this process is not root. */
  user: CommandUser | undefined;
  shipper: RunLog;
  variables: ProjectVariables;
}
