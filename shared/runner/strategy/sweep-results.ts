import { modelPrefix } from '../../data/models/model.ts';
import { strategyRemains } from '../../data/models/strategy.ts';
import { sweepLeftovers } from '../outputs/sweep-leftovers.ts';
import type { StrategyJob } from './strategy-job.ts';

/** Seconds for which a store that is away is tried again: the end of the job waits for it. */
const patienceSeconds = 60;

/**
 * Removes what no record of a strategy will name once it has ended: results that were uploaded before it failed, those
 * of an earlier attempt, and the copies for a model that is not to be. Never throws: what is left is removed when the
 * strategy is deleted.
 */
export async function sweepResults(job: StrategyJob, named: ReadonlySet<string>): Promise<void> {
  const { record, records, objects, lease, log } = job;
  const { strategy_id: job_id, result_name } = record;
  const copies = result_name === null ? [] : [modelPrefix(job_id)];
  try {
    for (const prefix of [...strategyRemains(record).prefixes, ...copies])
      await sweepLeftovers({ records, objects, job_id, lease, prefix, patienceSeconds }, named);
  } catch (error) {
    log.warn('results-left', { strategy_id: job_id, error: error instanceof Error ? error.name : '' });
  }
}
