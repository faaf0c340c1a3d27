import { ServiceError } from '../../shared/core/service-error.ts';
import type { Best, Experiment } from '../../shared/data/experiment.ts';
import { type FinalStatus, isFinal, rankOf } from '../../shared/data/job-status.ts';
import { allSummaries, readMetricParts } from '../../shared/data/metric-summaries.ts';
import { rank, unrank } from '../../shared/data/ranking.ts';
import { isTableNumber } from '../../shared/data/stored-number.ts';
import type { TableReader, Write } from '../../shared/data/table.ts';

/** How an experiment can end. */
export const endings = ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const satisfies readonly FinalStatus[];

/** What a client may say of an experiment that runs elsewhere; one that is yet to begin is CREATED. */
export type ClientStatus = 'CREATED' | 'RUNNING' | FinalStatus;

/** The best value by the criterion of the project; null where the table does not take it. */
async function bestOf(records: TableReader<'records'>, experiment: Experiment): Promise<Best | null> {
  const { project_id, experiment_id, criterion } = experiment;
  const summary = allSummaries(await readMetricParts(records, project_id, experiment_id)).get(criterion.name);
  if (summary === undefined) return null;
  const value = criterion.goal === 'maximize' ? summary.max : summary.min;
  if (!isTableNumber(value)) return null;
  return { criterion: criterion.name, value, step: value === summary.last ? summary.step : null };
}

interface StatusChange {
  set?: Partial<Experiment>;
  also?: Write[];
}

/**
 * What the status that a client gives changes in the record of an experiment that runs elsewhere: it is ranked once it
 * has succeeded, and only as long.
 * @throws ServiceError `conflict` for a training, which its job ends
 */
export async function changedStatus(
  records: TableReader<'records'>,
  experiment: Experiment,
  status: ClientStatus,
  now: Date,
): Promise<StatusChange> {
  if (experiment.kind !== 'logged') {
    throw new ServiceError('conflict', 'The status of a training is that of its job; POST …/cancel ends it.');
  }
  if (status === experiment.status) return {};
  const best = status === 'SUCCEEDED' ? await bestOf(records, experiment) : null;
  const stopped_at = isFinal(status) ? now.toISOString() : null;
  return {
    set: { status, status_rank: rankOf(status), stopped_at, best },
    also: [...unrank(experiment), ...(best === null ? [] : [rank(experiment, best)])],
  };
}
