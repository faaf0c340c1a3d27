import { configFormat } from '../../../shared/config/parse-config-file.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { readJobConfig } from '../../../shared/data/jobs/job-config.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { decodeStored } from './unreadable-config.ts';

interface ExperimentConfig {
  config_id: string;
  config_version: number;
  config_sha256: string;
  bytes: Uint8Array;
  content: string;
}

/**
 * The configuration that an experiment runs with, which is its own. Throws a 404 problem when there is none, and a 409
 * problem for a format that only a later version of the service knows.
 */
export async function requireExperimentConfig(
  records: TableReader<'records'>,
  project_id: string,
  experiment_id: string,
): Promise<ExperimentConfig> {
  const experiment = await requireExperiment(records, project_id, experiment_id);
  const bytes = await readJobConfig(records, experiment_id);
  const { config_id, config_version, config_sha256 } = experiment;
  const isKnown = config_id !== null && config_version !== null && config_sha256 !== null;
  if (bytes === undefined || !isKnown)
    throw new ServiceError('not-found', `Experiment ${experiment_id} has no configuration.`);
  if (configFormat(config_id) === undefined)
    throw new ServiceError(
      'conflict',
      `A later version of the service wrote ${config_id}; this one cannot read it.`,
    );
  return { config_id, config_version, config_sha256, bytes, content: decodeStored(config_id, bytes) };
}
