import { notFound } from '../../../shared/core/service-error.ts';
import { markNew } from '../../../shared/data/experiments/catalogue-mark.ts';
import { keepCheckpoints } from '../../../shared/data/experiments/continuation.ts';
import {
  type Experiment,
  emptyExperiment,
  experimentJob,
  putExperiment,
} from '../../../shared/data/experiments/experiment.ts';
import { type Git, putFields } from '../../../shared/data/experiments/tracking.ts';
import { newJobId, type TrainingKind } from '../../../shared/data/jobs/job.ts';
import { putJobConfig } from '../../../shared/data/jobs/job-config.ts';
import { newJob } from '../../../shared/data/jobs/new-job.ts';
import { sizeLimits } from '../../../shared/data/jobs/size-limits.ts';
import { limitShare } from '../../../shared/data/jobs/vcpu-shares.ts';
import type { Config } from '../../../shared/data/projects/config.ts';
import type { Environment } from '../../../shared/data/projects/environment.ts';
import { type Project, projectExists } from '../../../shared/data/projects/project.ts';
import { findDataset, findSource, type Upload } from '../../../shared/data/projects/upload.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { ConditionFailedError, WriteLabel } from '../../../shared/data/table/write-label.ts';
import type { Ambient, Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { beginOrWait, waitingFields } from '../../../shared/jobs/admission/begin-or-wait.ts';
import { costEstimate } from '../../../shared/jobs/admission/cost.ts';
import { lineIsFull } from '../../../shared/jobs/admission/job-limits.ts';
import type { JobSize } from '../../../shared/jobs/admission/job-size.ts';
import { fieldsOfTraining } from './fields-of-training.ts';
import { type MeantInputs, meantConfig, requireMeant } from './meant-inputs.ts';

/** A request for a training, with its defaults. */
export interface TrainingRequest {
  kind: TrainingKind;
  config: Config;
  environment: Environment;
  size: JobSize;
  nodes: number;
  timeout: number | undefined;
  dataset: string | undefined;
  git: Git | null;
  /** Which of the project's inputs the client means. */
  meant: MeantInputs;
}

/** The inputs of a new experiment, which never change after it has begun. */
export type TrainingInputs = Pick<
  Experiment,
  | 'source_sha256'
  | 'source_size'
  | 'dataset'
  | 'dataset_sha256'
  | 'dataset_is_archive'
  | 'environment'
  | 'rerun_of'
  | 'overrides'
  | 'continues_from'
  | 'nodes'
  | 'timeout'
> &
  JobSize & {
    kind: TrainingKind;
    config_id: string;
    config_version: number;
    config_sha256: string;
    /** Bytes of the configuration. */
    content: Uint8Array;
    /** Commit of the source, where its client said so. */
    git: Git | null;
  };

export type BeginContext = Ambient & {
  records: TableWriter<'records'>;
  project: Project;
  caller: Caller;
};

function experimentOf(
  experiment_id: string,
  { content: _, git: __, ...inputs }: TrainingInputs,
  { project, caller, now, settings }: BeginContext,
): Experiment {
  const { kind, vcpus, memory, gpus, nodes, timeout } = inputs;
  const size = { vcpus, memory, gpus, nodes, timeout };
  const created_at = now().toISOString();
  const limit_share = limitShare(experiment_id, settings.limits.vcpus);
  const isOnNodes = kind === 'train-remote' || gpus > 0;
  // The container of an image is limited by its engine.
  const asProcess = settings.jobsRunAs === 'processes' && inputs.environment.env_type !== 'docker';
  const limits = sizeLimits({ asProcess, isOnNodes });
  return {
    ...newJob({ ...size, user_id: caller.user_id, created_at, limit_share, limits }),
    ...emptyExperiment,
    ...inputs,
    experiment_id,
    project_id: project.project_id,
    cluster_owner: kind === 'train-remote' ? project.owner_id : null,
    cost_estimate: costEstimate(settings.prices, { ...size, isOnNodes }),
  };
}

/** The fields of an experiment that name a data set, or none. */
export const datasetFields = (dataset: Upload | undefined) => ({
  dataset: dataset?.name ?? null,
  dataset_sha256: dataset?.sha256 ?? null,
  dataset_is_archive: dataset !== undefined && dataset.format !== 'file',
});

/** An experiment that was recorded, and whether it waits in line. */
export interface Begun {
  experiment: Experiment;
  waits: boolean;
}

/** Checkpoints that were deleted, or are changed again, since their experiment was read. */
export const checkpointsKept = new WriteLabel('checkpoints of the earlier experiment');

/**
 * Records an experiment of these inputs. From then on it will reach an end: should this process die before it is handed
 * to Batch, the reconciler submits it.
 * @throws ConditionFailedError where {@link checkpointsKept} does not hold
 */
export async function recordExperiment(inputs: TrainingInputs, context: BeginContext): Promise<Begun> {
  const { records, project, newId, settings, idempotencyWrites, now } = context;
  const experiment_id = await newJobId(records, newId());
  const experiment = experimentOf(experiment_id, inputs, context);
  const fields = await fieldsOfTraining(
    records,
    { ...experiment, config_id: inputs.config_id, git: inputs.git },
    inputs.content,
  );
  try {
    const writesOf = (ticket: number | null) => [
      projectExists(project.project_id),
      putExperiment({ ...experiment, ...(ticket !== null && waitingFields(ticket)) }),
      putJobConfig(experiment_id, inputs.content),
      putFields(project.project_id, experiment_id, fields, undefined),
      markNew(project.project_id, experiment_id),
      ...keepCheckpoints(experiment).map((write) => checkpointsKept.on(write)),
      ...idempotencyWrites(experiment_id),
    ];
    const waits = await beginOrWait(records, experimentJob(experiment), settings.limits, writesOf, now());
    return { experiment, waits };
  } catch (error) {
    if (checkpointsKept.failedIn(error)) throw error;
    if (error instanceof ConditionFailedError) throw notFound('project', project.project_id);
    throw lineIsFull(error, settings.limits);
  }
}

/** Records the experiment that a training asks for, with what the project holds now. */
export async function beginExperiment(request: TrainingRequest, context: BeginContext): Promise<Begun> {
  const { records, project, settings } = context;
  const { kind, config, environment, size, nodes, timeout = settings.limits.jobSeconds } = request;
  const [source, dataset, versioned] = await Promise.all([
    findSource(records, project.project_id),
    request.dataset === undefined ? undefined : findDataset(records, project.project_id, request.dataset),
    meantConfig(records, config, request.meant.config_version),
  ]);
  if (request.dataset !== undefined && dataset === undefined) throw notFound('data set', request.dataset);
  requireMeant(request.meant, { environment, source });
  const { entry_point_command, env_type, dependencies, version } = environment;
  const inputs: TrainingInputs = {
    kind,
    ...size,
    nodes,
    timeout,
    config_id: config.config_id,
    ...versioned,
    source_sha256: source?.sha256 ?? null,
    source_size: source?.size ?? 0,
    ...datasetFields(dataset),
    environment: { entry_point_command, env_type, dependencies, version },
    rerun_of: null,
    overrides: null,
    continues_from: null,
    git: request.git,
  };
  return recordExperiment(inputs, context);
}
