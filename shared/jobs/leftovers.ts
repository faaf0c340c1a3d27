import { type Experiment, experimentPrefix } from '../data/experiment.ts';
import { modelPrefix } from '../data/model.ts';
import { type PurgeTarget, recordPurge } from '../data/purge.ts';
import { strategyRemains } from '../data/strategy.ts';
import type { Write } from '../data/table.ts';
import { isStrategy, type JobRecord, jobIdOf } from './subject.ts';

/** Whether a job's own container, or one before it, may build an environment. */
const mayBuild = ({ environment: { env_type } }: Experiment): boolean =>
  env_type === 'python' || env_type === 'node';

function targetOf(record: JobRecord): PurgeTarget {
  // What a strategy results in is named by the end that its own container writes, which also removes all else.
  if (isStrategy(record)) {
    // Copies for the model that the result was to become, which only a strategy that succeeded makes.
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
 * The write that goes with a job's end where its container could not write it: a container that died between an upload
 * and its record has left an object that no record names. Nothing where none has run.
 */
export function purgeLeftovers(record: JobRecord, now: Date): Write[] {
  if (record.attempt === 0 && record.depends_on === null) return [];
  const purge_id = jobIdOf(record);
  const created_at = now.toISOString();
  return [recordPurge({ purge_id, created_at, again_at: null, target: targetOf(record) })];
}
