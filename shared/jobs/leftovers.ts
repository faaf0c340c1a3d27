import { experimentPrefix } from '../data/experiment.ts';
import { type PurgeTarget, recordPurge } from '../data/purge.ts';
import { strategyRemains } from '../data/strategy.ts';
import type { Write } from '../data/table.ts';
import { isStrategy, type JobRecord, jobIdOf } from './subject.ts';

function targetOf(record: JobRecord): PurgeTarget {
  // What a strategy results in is named by the end that its own container writes, and by nothing before.
  if (isStrategy(record)) return { partitions: [], prefixes: strategyRemains(record).prefixes };
  const { project_id, experiment_id: job_id } = record;
  return {
    partitions: [],
    prefixes: [],
    leftovers: { job_id, prefix: experimentPrefix(project_id, job_id) },
  };
}

/**
 * The write that goes with a job's end where its container could not write it: a container that died between an upload
 * and its record has left an object that no record names. Nothing where none has run.
 */
export function purgeLeftovers(record: JobRecord, now: Date): Write[] {
  if (record.attempt === 0) return [];
  const purge_id = jobIdOf(record);
  const created_at = now.toISOString();
  return [recordPurge({ purge_id, created_at, again_at: null, target: targetOf(record) })];
}
