import { parseConfig } from '../../../shared/config/parse-config.ts';
import type { ExperimentFields, Git } from '../../../shared/data/experiments/tracking.ts';
import { defaultName } from '../../../shared/data/projects/default-name.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { configParams } from '../../../shared/experiments/config-params.ts';
import { experimentNumber } from '../../../shared/experiments/experiment-number.ts';
import { decodeStored, unreadableConfig } from '../configs/unreadable-config.ts';

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
