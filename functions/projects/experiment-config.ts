import { configFormat } from '../../shared/config-file/parse-config-file.ts';
import { ServiceError } from '../../shared/core/service-error.ts';
import { type Experiment, readJobConfig, requireExperiment } from '../../shared/data/experiment.ts';
import type { TableReader } from '../../shared/data/table.ts';
import { decodeConfig } from './config-file-body.ts';

interface ExperimentConfig {
  experiment: Experiment;
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
  if (bytes === undefined)
    throw new ServiceError('not-found', `Experiment ${experiment_id} has no configuration.`);
  const { config_id } = experiment;
  if (configFormat(config_id) === undefined)
    throw new ServiceError(
      'conflict',
      `A later version of the service wrote ${config_id}; this one cannot read it.`,
    );
  return { experiment, bytes, content: decodeConfig(bytes) };
}
