import type { Limits } from '../core/settings.ts';
import { claimCluster } from '../data/cluster-claim.ts';
import { gatherVcpus, refuseBusyShares } from '../data/gather-vcpus.ts';
import { countInProject, countOfUser, putUnfinished, type UnfinishedJob } from '../data/job.ts';
import { retryOnConflict } from '../data/retry-on-conflict.ts';
import type { TableWriter, Write } from '../data/table.ts';
import { reserveVcpus } from '../data/vcpu-shares.ts';
import { ConditionFailedError, WriteLabel } from '../data/write-label.ts';

/** A limit that leaves no room for the job now. */
export class JobLimitError extends Error {
  override readonly name = 'JobLimitError';
  readonly limit: 'unfinishedJobs' | 'vcpus' | 'sharedCluster';

  constructor(limit: JobLimitError['limit']) {
    super(`nothing is left of the limit ${limit}`);
    this.limit = limit;
  }
}

const clusterClaim = new WriteLabel('claim of the cluster');
const userLimit = new WriteLabel('unfinished jobs of the user');
const vcpuLimit = new WriteLabel('vCPUs of the deployment');

/**
 * Begin a job: in one transaction do `writes`, its own record among them, put it on the list of unfinished jobs, and
 * count it against the limits.
 * @throws JobLimitError where a limit would be exceeded
 * @throws ConditionFailedError where a condition of `writes` does not hold
 */
export async function beginJob(
  records: TableWriter<'records'>,
  job: UnfinishedJob,
  limits: Pick<Limits, 'unfinishedJobs' | 'vcpus' | 'sharedCluster'>,
  writes: readonly Write[],
): Promise<void> {
  const counted = [
    ...writes,
    putUnfinished(job),
    ...countInProject(job),
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
        error instanceof ConditionFailedError && error.isOnly(clusterClaim, userLimit, vcpuLimit);
      if (isLimit && clusterClaim.failedIn(error)) throw new JobLimitError('sharedCluster');
      if (isLimit && userLimit.failedIn(error)) throw new JobLimitError('unfinishedJobs');
      throw error;
    }
  };
  const isConflict = (error: ConditionFailedError) => error.isOnly(vcpuLimit);
  await retryOnConflict(begin, { isConflict, giveUp: refuseBusyShares });
}
