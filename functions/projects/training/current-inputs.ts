import type { Capacity } from '../../../shared/core/capacity/capacity.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import type { Git } from '../../../shared/data/experiments/tracking.ts';
import type { TrainingKind } from '../../../shared/data/jobs/job.ts';
import type { Config } from '../../../shared/data/projects/config.ts';
import type { Environment } from '../../../shared/data/projects/environment.ts';
import type { Project } from '../../../shared/data/projects/project.ts';
import { findDataset, findSource } from '../../../shared/data/projects/upload.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import type { JobSize } from '../../../shared/jobs/size.ts';
import { datasetFields, type TrainingInputs } from '../../../shared/training/record-experiment.ts';
import { type ExpectedInputs, expectedConfig, requireExpected } from './expected-inputs.ts';

/**
 * Return the inputs of a training that begins now: the current ones of its project.
 * @throws ServiceError `not-found` for a missing data set or version, `conflict` if the project has other inputs than
 * the client expects
 */
export async function currentInputs(
  request: TrainingRequest,
  { records, project, settings }: { records: TableReader<'records'>; project: Project; settings: Settings },
): Promise<TrainingInputs> {
  const { kind, config, environment, size, nodes, timeout = settings.limits.jobSeconds } = request;
  const [source, dataset, versioned] = await Promise.all([
    findSource(records, project.project_id),
    request.dataset === undefined ? undefined : findDataset(records, project.project_id, request.dataset),
    expectedConfig(records, config, request.expected.config_version),
  ]);
  if (request.dataset !== undefined && dataset === undefined) throw notFound('data set', request.dataset);
  requireExpected(request.expected, { environment, source });
  const { entry_point_command, env_type, dependencies, version } = environment;
  return {
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
}

/** A request for a training, with defaults applied. */
export interface TrainingRequest {
  kind: TrainingKind;
  config: Config;
  environment: Environment;
  size: JobSize & { capacity: Capacity };
  nodes: number;
  timeout: number | undefined;
  dataset: string | undefined;
  git: Git | null;
  expected: ExpectedInputs;
}
