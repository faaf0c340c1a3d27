import { createHash } from 'node:crypto';
import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import {
  type Config,
  findConfig,
  oldestKept,
  readConfigVersion,
} from '../../../shared/data/projects/config.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { decodeStored } from './unreadable-config.ts';

interface StoredConfig {
  /** As of the version that was asked for. */
  config: Omit<Config, 'updated_at'> & { updated_at: string | null };
  content: string;
}

/** The 404 for a version that is not kept, or not there yet. */
export function noVersion(config: Config, version: number): ServiceError {
  const { config_id, version: newest } = config;
  return new ServiceError(
    'not-found',
    `There is no version ${version} of ${config_id}; versions ${oldestKept(config)} to ${newest} are kept.`,
  );
}

/** A version of a configuration with its contents, without `version` the newest. Throws a 404 problem when there is none. */
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
