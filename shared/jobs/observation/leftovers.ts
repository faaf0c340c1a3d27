import { type Experiment, experimentPrefix } from '../../data/experiments/experiment.ts';
import { modelPrefix } from '../../data/models/model.ts';
import { strategyRemains } from '../../data/models/strategy.ts';
import { type PurgeTarget, recordPurge } from '../../data/projects/purge.ts';
import type { Write } from '../../data/table/table.ts';
import { isStrategy, type JobRecord, jobIdOf } from '../subject.ts';

/** Whether a container of the job may have built an environment. */
const mayBuild = ({ environment: { env_type } }: Experiment): boolean =>
  env_type === 'python' || env_type === 'node';

function targetOf(record: JobRecord): PurgeTarget {
  // No record names a result of this strategy, because its container did not conclude it.
  if (isStrategy(record)) {
    // The copies for the model that the result should have become.
    const copies = record.result_name === null ? [] : [modelPrefix(record.strategy_id)];
    return { partitions: [], prefixes: [...strategyRemains(record).prefixes, ...copies] };
  }
  const { project_id, experiment_id: job_id } = record;
  return {
    partitions: [],
    prefixes: [],
    leftovers: { job_id, prefix: experimentPrefix(project_id, job_id) },
    ...(mayBuild(record) && { packs_of: project_id }),
  };
}

/**
 * The write that goes with the end of a job whose container could not conclude it: a container that died between an
 * upload and its record has left an object that no record names. Empty where no container has run.
 */
export function purgeLeftovers(record: JobRecord, now: Date): Write[] {
  if (record.attempt === 0 && record.depends_on === null) return [];
  const purge_id = jobIdOf(record);
  const created_at = now.toISOString();
  return [recordPurge({ purge_id, created_at, again_at: null, target: targetOf(record) })];
}
