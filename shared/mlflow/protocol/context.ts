import type { ObjectWriter } from '../../aws/objects.ts';
import { ServiceError } from '../../core/service-error.ts';
import { requireReachedProject } from '../../data/accounts/token-scope.ts';
import { accountTypes } from '../../data/accounts/user.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import type { Project } from '../../data/projects/project.ts';
import type { TableWriter } from '../../data/table/table.ts';
import type { ChangeFields } from '../../experiments/change-fields.ts';
import type { Ambient, Caller } from '../../http/definition/endpoint-context.ts';
import { projectFor } from '../../http/pipeline/project-authorization.ts';
import { doesNotExist, mlflowError } from './mlflow-error.ts';

/** The experiments that a program inside a job may reach: its own, and others that it records itself. */
export interface JobReach {
  /** Stands for the project. A job cannot read the project's record. */
  project: Project;
  /** The program's own experiment, as it was when the program started. */
  experiment: Experiment;
  /** Change the fields of the program's own experiment. */
  changeFields(change: ChangeFields): Promise<Experiment>;
  /** Store points of the program's own experiment. */
  logPoints(points: readonly MetricPoint[]): Promise<void>;
  /** The runs that the program has begun. */
  runs: JobRuns;
}

/** The runs of a job's program. The first one is the job's own experiment, whichever call begins it. */
export interface JobRuns {
  /**
   * Begin a run that is not a child of another one. Return false if the program already records into the job's own
   * experiment: the run is then a further one.
   */
  takeOwn(): boolean;
  /** Give the own experiment back, because the run that took it could not be recorded. */
  releaseOwn(): void;
  /**
   * Record that the program begins to record another experiment.
   * @throws ServiceError `conflict` if that exceeds the limit
   */
  begin(experiment_id: string): void;
  /** Ids of the other experiments that the program has begun. */
  begun(): readonly string[];
  /** Record that the program has written to an experiment, so it knows the id. */
  use(experiment_id: string): void;
  /** Keep the answer to a request that began a run, because a client repeats a request whose answer was lost. */
  answered(request: string, experiment_id: string): void;
  /** Return the experiment that the same request has begun, unless the program has written to it since. */
  repeated(request: string): string | undefined;
}

/** Context of every route, besides its input. */
export interface MlflowContext extends Pick<Ambient, 'now' | 'newId' | 'settings' | 'log' | 'noteAudit'> {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  caller: Pick<Caller, 'user_id' | 'username' | 'account_type' | 'scope' | 'ci'>;
  /** The experiments that the job may reach, if the caller is a job. */
  job?: JobReach;
}

/** `viewer` reads a project. `developer` changes its contents. `owner` changes the project itself. */
export type Access = 'viewer' | 'developer' | 'owner';

export const outsideJob = (): ServiceError =>
  mlflowError('PERMISSION_DENIED', 'A program in a job has access only to its own experiment.');

/**
 * Check that the caller may reach the experiment.
 * @throws ServiceError `forbidden` if the caller is a job that did not record the experiment
 */
export function requireReach({ job }: Pick<MlflowContext, 'job'>, found: Experiment): void {
  if (job === undefined || isOwnRun({ job }, found)) return;
  if (found.recorded_by !== job.experiment.experiment_id) throw outsideJob();
}

/** Return whether this is the job's own experiment. */
export const isOwnRun = (
  { job }: Pick<MlflowContext, 'job'>,
  { experiment_id }: Pick<Experiment, 'experiment_id'>,
): boolean => job?.experiment.experiment_id === experiment_id;

/** @throws ServiceError `forbidden` for accounts that may only read */
export function requireDeveloper({ caller }: Pick<MlflowContext, 'caller'>): void {
  if (accountTypes.indexOf(caller.account_type) >= accountTypes.indexOf('developer')) return;
  throw new ServiceError('forbidden', 'This requires an account of type developer; yours may only read.');
}

/**
 * Return the project, and check that the caller has this access to it.
 * @throws ServiceError `not-found`, `forbidden`
 */
export async function requireAccess(
  { records, caller, job, noteAudit }: Pick<MlflowContext, 'records' | 'caller' | 'job' | 'noteAudit'>,
  project_id: string,
  access: Access,
): Promise<Project> {
  if (job !== undefined) {
    if (project_id !== job.project.project_id || access === 'owner') throw outsideJob();
    return job.project;
  }
  requireReachedProject(caller, project_id);
  noteAudit({ project_id });
  if (access !== 'viewer') requireDeveloper({ caller });
  return projectFor(records, project_id, access, caller).catch((error: unknown) => {
    if (error instanceof ServiceError && error.kind === 'not-found')
      throw doesNotExist(`No Experiment with id=${project_id} exists`);
    throw error;
  });
}
