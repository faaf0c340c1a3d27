import type { ObjectWriter } from '../../aws/objects.ts';
import { errorName } from '../../core/error-text.ts';
import { keptObjects } from '../../data/experiments/artifact.ts';
import { experimentPrefix } from '../../data/experiments/experiment.ts';
import { holdsLease, type Lease } from '../../data/jobs/lease.ts';
import { pagesOf } from '../../data/table/pages-of.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { ConditionFailedError } from '../../data/table/write-label.ts';
import { LeaseLostError } from '../job/job-error.ts';
import { retryFor, shortPatience } from '../job/retry-for.ts';
import type { TrainingJob } from '../job/training-job.ts';

/** A prefix in the bucket of a job. This process runs on the job's main node. */
interface SweptPlace {
  records: TableWriter<'records'>;
  objects: Pick<ObjectWriter, 'list' | 'delete'>;
  job_id: string;
  lease: Lease;
  prefix: string;
  /** Seconds to retry while a store or table is unavailable. */
  patienceSeconds: number;
}

/**
 * Remove the objects of a job under a prefix, except the `named` ones. The lease is checked between listing and
 * removing, so listed objects are never those of a later holder, however long this process pauses.
 * @throws LeaseLostError
 */
export async function removeOrphans(
  { records, objects, job_id, lease, prefix, patienceSeconds }: SweptPlace,
  named: Pick<ReadonlySet<string>, 'has'>,
): Promise<void> {
  const read = (after: string | undefined) => retryFor(patienceSeconds, () => objects.list(prefix, after));
  for await (const page of pagesOf(read)) {
    const doomed = page.objects.map(({ key }) => key).filter((key) => !named.has(key));
    if (doomed.length > 0) {
      const proof = holdsLease(job_id, 0, lease);
      await retryFor(patienceSeconds, () => records.write(proof)).catch((cause: unknown) => {
        throw cause instanceof ConditionFailedError ? new LeaseLostError({ cause }) : cause;
      });
      await retryFor(patienceSeconds, () => objects.delete(doomed));
    }
  }
}

/**
 * Remove the objects that earlier attempts uploaded and did not record. For an attempt that ends before its
 * command has run; otherwise the end of the command does it. Never throws: remaining objects are removed with the
 * experiment.
 */
export async function removeEarlierOrphans({
  record,
  lease,
  records,
  objects,
  log,
}: TrainingJob): Promise<void> {
  if (lease.number === 1) return;
  const { project_id, experiment_id: job_id } = record;
  const prefix = experimentPrefix(project_id, job_id);
  try {
    const named = await retryFor(shortPatience, () => keptObjects(records, job_id));
    await removeOrphans({ records, objects, job_id, lease, prefix, patienceSeconds: shortPatience }, named);
  } catch (error) {
    log.warn('files-left', { experiment_id: job_id, error: errorName(error) });
  }
}
