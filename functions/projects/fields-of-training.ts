import type { Experiment } from '../../shared/data/experiment.ts';
import { countersKey, salvageCounters } from '../../shared/data/project.ts';
import type { TableReader } from '../../shared/data/table.ts';
import type { ExperimentFields } from '../../shared/data/tracking.ts';
import { configParams } from '../experiments/config-params.ts';
import { defaultName } from '../experiments/default-name.ts';
import { decodeConfig } from './config-file-body.ts';
import { parseConfig } from './parse-config.ts';

/**
 * What is known of a training before it begins: its name, and the params that its configuration says. Two that begin at
 * the same moment may get one name, and so may one that follows a delete; names need not differ.
 */
export async function fieldsOfTraining(
  records: TableReader<'records'>,
  { project_id, config_id, created_at }: Experiment,
  content: Uint8Array,
): Promise<ExperimentFields> {
  const [parsed, counters] = await Promise.all([
    parseConfig({ config_id, content: decodeConfig(content) }),
    records.get(countersKey(project_id)),
  ]);
  const number = (counters === undefined ? 0 : salvageCounters(counters).experiments) + 1;
  return {
    name: defaultName(config_id, number),
    note: null,
    tags: {},
    params: 'fault' in parsed ? {} : configParams(parsed.data),
    git: null,
    updated_at: created_at,
    version: 1,
  };
}
