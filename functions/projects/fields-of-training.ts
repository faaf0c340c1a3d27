import { parseConfig } from '../../shared/config-text/parse-config.ts';
import { defaultName } from '../../shared/data/default-name.ts';
import type { TableReader } from '../../shared/data/table.ts';
import type { ExperimentFields, Git } from '../../shared/data/tracking.ts';
import { configParams } from '../experiments/config-params.ts';
import { experimentNumber } from '../experiments/experiment-number.ts';
import { decodeStored, unreadableConfig } from './unreadable-config.ts';

interface Training {
  project_id: string;
  config_id: string;
  created_at: string;
  git: Git | null;
}

/**
 * What is known of a training before it begins: its name, and the params that its configuration says.
 */
export async function fieldsOfTraining(
  records: TableReader<'records'>,
  { project_id, config_id, created_at, git }: Training,
  content: Uint8Array,
): Promise<ExperimentFields> {
  const [parsed, number] = await Promise.all([
    parseConfig({ config_id, content: decodeStored(config_id, content) }),
    experimentNumber(records, project_id),
  ]);
  if ('fault' in parsed) throw unreadableConfig(config_id, parsed.fault);
  return {
    name: defaultName(config_id, number),
    note: null,
    tags: {},
    params: configParams(parsed.data),
    git,
    updated_at: created_at,
    version: 1,
  };
}
