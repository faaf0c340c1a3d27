import { notFound } from '../../shared/core/service-error.ts';
import { type Config, readConfigContent } from '../../shared/data/config.ts';
import type { Environment } from '../../shared/data/environment.ts';
import { type Experiment, experimentJob, putExperiment, putJobConfig } from '../../shared/data/experiment.ts';
import { newJobId, type TrainingKind } from '../../shared/data/job.ts';
import { newJob } from '../../shared/data/new-job.ts';
import { type Project, projectExists } from '../../shared/data/project.ts';
import type { TableWriter } from '../../shared/data/table.ts';
import { putFields } from '../../shared/data/tracking.ts';
import { findDataset, findSource, type Upload } from '../../shared/data/upload.ts';
import { limitShare } from '../../shared/data/vcpu-shares.ts';
import { ConditionFailedError } from '../../shared/data/write-label.ts';
import type { Ambient, Caller } from '../../shared/http/definition.ts';
import { beginOrWait, waitingFields } from '../../shared/jobs/begin-or-wait.ts';
import { costEstimate } from '../../shared/jobs/cost.ts';
import { criterionOf } from '../experiments/criteria.ts';
import { fieldsOfTraining } from './fields-of-training.ts';
import { lineIsFull } from './job-limits.ts';
import type { JobSize } from './job-size.ts';

/** A request for a training, with its defaults. */
export interface TrainingRequest {
  kind: TrainingKind;
  config: Config;
  environment: Environment;
  size: JobSize;
  nodes: number;
  timeout: number | undefined;
  dataset: string | undefined;
}

type BeginContext = Ambient & {
  records: TableWriter<'records'>;
  project: Project;
  caller: Caller;
};

function experimentOf(
  experiment_id: string,
  { kind, config, environment, size, nodes, timeout }: TrainingRequest,
  source: Upload | undefined,
  dataset: Upload | undefined,
  { project, caller, now, settings }: BeginContext,
): Experiment {
  const created_at = now().toISOString();
  const { entry_point_command, env_type, dependencies, version } = environment;
  const seconds = timeout ?? settings.limits.jobSeconds;
  const limit_share = limitShare(experiment_id, settings.limits.vcpus);
  return {
    ...newJob({ ...size, nodes, timeout: seconds, user_id: caller.user_id, created_at, limit_share }),
    experiment_id,
    project_id: project.project_id,
    kind,
    cluster_owner: kind === 'train-remote' ? project.owner_id : null,
    config_id: config.config_id,
    config_version: config.version,
    config_sha256: config.sha256,
    source_sha256: source?.sha256 ?? null,
    source_size: source?.size ?? 0,
    dataset: dataset?.name ?? null,
    dataset_sha256: dataset?.sha256 ?? null,
    dataset_is_archive: dataset !== undefined && dataset.format !== 'file',
    environment: { entry_point_command, env_type, dependencies, version },
    lock_hash: null,
    environment_cache: null,
    saved_seconds: null,
    criterion: criterionOf(project),
    best: null,
    artifacts: 0,
    artifact_bytes: 0,
    checkpoints: 0,
    checkpoint_bytes: 0,
    cost_estimate: costEstimate(settings.prices, {
      ...size,
      isOnNodes: kind === 'train-remote' || size.gpus > 0,
      nodes,
      timeout: seconds,
    }),
  };
}

/** An experiment that was recorded, and whether it waits in line. */
interface Begun {
  experiment: Experiment;
  waits: boolean;
}

/**
 * Records an experiment. From then on it will reach an end: should this process die before it is handed to Batch, the
 * reconciler submits it.
 */
export async function beginExperiment(request: TrainingRequest, context: BeginContext): Promise<Begun> {
  const { records, project, newId, settings, idempotencyWrites, now } = context;
  const [source, dataset, content] = await Promise.all([
    findSource(records, project.project_id),
    request.dataset === undefined ? undefined : findDataset(records, project.project_id, request.dataset),
    readConfigContent(records, request.config),
  ]);
  if (content === undefined) throw notFound('config', request.config.config_id);
  if (request.dataset !== undefined && dataset === undefined) throw notFound('data set', request.dataset);
  const experiment_id = await newJobId(records, newId());
  const experiment = experimentOf(experiment_id, request, source, dataset, context);
  const fields = await fieldsOfTraining(
    records,
    { config: request.config, created_at: experiment.created_at },
    content,
  );
  try {
    const writesOf = (ticket: number | null) => [
      projectExists(project.project_id),
      putExperiment({ ...experiment, ...(ticket !== null && waitingFields(ticket)) }),
      putJobConfig(experiment_id, content),
      putFields(project.project_id, experiment_id, fields, undefined),
      ...idempotencyWrites(experiment_id),
    ];
    const job = experimentJob(experiment);
    const waits = await beginOrWait(records, job, settings.limits, writesOf, now());
    return { experiment, waits };
  } catch (error) {
    if (error instanceof ConditionFailedError) throw notFound('project', project.project_id);
    throw lineIsFull(error, settings.limits);
  }
}
