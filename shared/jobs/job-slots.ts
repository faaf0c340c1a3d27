import type { Limits } from '../core/settings.ts';
import { claimCluster } from '../data/jobs/cluster-claim.ts';
import { countInProject, countOfUser, putUnfinished, type UnfinishedJob } from '../data/jobs/job.ts';
import { gatherVcpus, refuseBusyShares, reserveVcpus } from '../data/jobs/vcpu-shares.ts';
import { lineIsEmpty } from '../data/jobs/waiting-line.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableWriter, Write } from '../data/table/table.ts';
import { ConditionFailedError, WriteLabel } from '../data/table/write-label.ts';

/**
 * Give a job a place. One transaction does `writes`, puts the job on the list of unfinished jobs, and counts it
 * against the limits.
 * @throws JobLimitError if the job would exceed a limit
 * @throws ConditionFailedError if a condition of `writes` does not hold
 */
export async function takeSlot(
  records: TableWriter<'records'>,
  job: UnfinishedJob,
  limits: PlaceLimits,
  writes: readonly Write[],
): Promise<void> {
  const counted = [
    ...writes,
    putUnfinished(job),
    ...claimCluster(job, limits.sharedCluster).map((write) => clusterClaim.on(write)),
    userLimit.on(countOfUser(job, limits.unfinishedJobs)),
  ];
  const begin = async (number: number): Promise<void> => {
    const own = [reserveVcpus(job, limits.vcpus)];
    const reserving = number === 1 ? own : await gatherVcpus(records, job, limits.vcpus);
    if (reserving === undefined) throw new JobLimitError('vcpus');
    try {
      await records.write(...counted, ...reserving.map((write) => vcpuLimit.on(write)));
    } catch (error) {
      const isLimit =
        error instanceof ConditionFailedError && error.isOnly(line, clusterClaim, userLimit, vcpuLimit);
      const reached = limitsByLabel.find(([label]) => isLimit && label.failedIn(error));
      if (reached !== undefined) throw new JobLimitError(reached[1]);
      throw error;
    }
  };
  const isConflict = (error: ConditionFailedError) => error.isOnly(vcpuLimit);
  await retryOnConflict(begin, { isConflict, giveUp: refuseBusyShares });
}

/** Limits that decide whether a job gets a place. */
export type PlaceLimits = Pick<Limits, 'unfinishedJobs' | 'vcpus' | 'sharedCluster'>;

const clusterClaim = new WriteLabel('claim of the cluster');
const userLimit = new WriteLabel('unfinished jobs of the user');

/** A limit leaves no room for the job now. `line` means that other jobs wait before it. */
export class JobLimitError extends Error {
  override readonly name = 'JobLimitError';
  readonly limit: 'unfinishedJobs' | 'vcpus' | 'sharedCluster' | 'line' | 'waitingJobs';

  constructor(limit: JobLimitError['limit']) {
    super(`nothing is left of the limit ${limit}`);
    this.limit = limit;
  }
}

const vcpuLimit = new WriteLabel('vCPUs of the deployment');
const line = new WriteLabel('line of the user');

/** Limits by priority: a job that exceeds several reports the first. */
const limitsByLabel = [
  [line, 'line'],
  [clusterClaim, 'sharedCluster'],
  [userLimit, 'unfinishedJobs'],
] as const;

/**
 * Begin a job that need not wait. Do `writes`, which include its own record, and give it a place.
 * @throws JobLimitError if the job would exceed a limit, or other jobs wait in its line
 * @throws ConditionFailedError if a condition of `writes` does not hold
 */
export const beginJob = (
  records: TableWriter<'records'>,
  job: UnfinishedJob,
  limits: PlaceLimits,
  writes: readonly Write[],
): Promise<void> =>
  takeSlot(records, job, limits, [...writes, ...countInProject(job), line.on(lineIsEmpty(job))]);
