import { createHash } from 'node:crypto';
import { configFormat } from '../../../shared/config/parse-config-file.ts';
import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { readJobConfig } from '../../../shared/data/jobs/job-config.ts';
import {
  type Config,
  findConfig,
  oldestKept,
  readConfigVersion,
} from '../../../shared/data/projects/config.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { decodeStored } from '../../../shared/training/stored-text.ts';

interface StoredConfig {
  /** The configuration as of the requested version. */
  config: Omit<Config, 'updated_at'> & { updated_at: string | null };
  content: string;
}

/** The 404 for a version that was dropped, or does not exist yet. */
export function noVersion(config: Config, version: number): ServiceError {
  const { config_id, version: newest } = config;
  return new ServiceError(
    'not-found',
    `There is no version ${version} of ${config_id}; versions ${oldestKept(config)} to ${newest} are kept.`,
  );
}

/**
 * Return a version of a configuration with its contents; the newest one without `version`. Throw a 404 problem if
 * it does not exist.
 */
export async function requireStoredConfig(
  records: TableReader<'records'>,
  project_id: string,
  config_id: string,
  version?: number,
): Promise<StoredConfig> {
  const config = await findConfig(records, project_id, config_id);
  if (config === undefined) throw notFound('config', config_id);
  const found = await readConfigVersion(records, config, version ?? config.version);
  if (found === undefined)
    throw version === undefined ? notFound('config', config_id) : noVersion(config, version);
  const { content, updated_at } = found;
  const sha256 = createHash('sha256').update(content).digest('hex');
  const asThen = { version: version ?? config.version, size: content.length, sha256, updated_at };
  return { config: { ...config, ...asThen }, content: decodeStored(config_id, content) };
}

interface ExperimentConfig {
  config_id: string;
  config_version: number;
  config_sha256: string;
  bytes: Uint8Array;
  content: string;
}

/**
 * Return the configuration of an experiment, which has its own copy. Throw a 404 problem if there is none, and a
 * 409 problem for a format that only a later version of the service knows.
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
