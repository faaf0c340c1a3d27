import { claimCluster } from '../data/cluster-claim.ts';
import { countInProject, countOfUser, putUnfinished, type UnfinishedJob } from '../data/job.ts';
import { ConditionFailed, TableBusy, type TableWriter, type Write } from '../data/table.ts';
import { gatherVcpus, reserveVcpus } from '../data/vcpu-limit.ts';
import type { Limits } from '../endpoint/settings.ts';

/** A limit of which nothing is left for a job now. */
export class JobLimitError extends Error {
  override readonly name = 'JobLimitError';
  readonly limit: 'unfinishedJobs' | 'vcpus' | 'sharedCluster';

  constructor(limit: JobLimitError['limit']) {
    super(`nothing is left of the limit ${limit}`);
    this.limit = limit;
  }
}

const rounds = 10;

/**
 * Begin a job: in one transaction do `writes`, its own record among them, put it on the list of unfinished jobs, and
 * count it against the limits.
 * @throws JobLimitError where a limit would be exceeded
 * @throws ConditionFailed where a condition of `writes` does not hold; its positions are theirs
 */
export async function beginJob(
  records: TableWriter<'records'>,
  job: UnfinishedJob,
  limits: Pick<Limits, 'unfinishedJobs' | 'vcpus' | 'sharedCluster'>,
  writes: readonly Write[],
): Promise<void> {
  const begun = [...writes, putUnfinished(job), ...countInProject(job)];
  const counted = [
    ...begun,
    ...claimCluster(job, limits.sharedCluster),
    countOfUser(job, limits.unfinishedJobs),
  ];
  let reserving = [reserveVcpus(job, limits.vcpus)];
  for (let round = 0; round < rounds; round += 1) {
    try {
      return await records.write(...counted, ...reserving);
    } catch (error) {
      const first = error instanceof ConditionFailed ? error.failed[0] : undefined;
      if (first === undefined || first < begun.length) throw error;
      if (first === counted.length - 1) throw new JobLimitError('unfinishedJobs');
      if (first < counted.length) throw new JobLimitError('sharedCluster');
    }
    const gathered = await gatherVcpus(records, job, limits.vcpus);
    if (gathered === undefined) throw new JobLimitError('vcpus');
    reserving = gathered;
  }
  throw new TableBusy('the shares of the vCPU limit changed all the while');
}
