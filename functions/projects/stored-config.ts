import { notFound } from '../../shared/core/service-error.ts';
import { type Config, findConfig, readConfigContent } from '../../shared/data/config.ts';
import type { TableReader } from '../../shared/data/table.ts';
import { decodeConfig } from './config-file-body.ts';

interface StoredConfig {
  config: Config;
  content: string;
}

/** The present version of a configuration with its contents. Throws a 404 problem when there is none. */
export async function requireStoredConfig(
  records: TableReader<'records'>,
  project_id: string,
  config_id: string,
): Promise<StoredConfig> {
  const config = await findConfig(records, project_id, config_id);
  const bytes = config && (await readConfigContent(records, config));
  if (config === undefined || bytes === undefined) throw notFound('config', config_id);
  return { config, content: decodeConfig(bytes) };
}
