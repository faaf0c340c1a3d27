import type { Deadline } from '../../core/deadline.ts';
import { auditVcpus } from '../../data/jobs/audit-vcpus.ts';
import { auditCluster } from '../../data/jobs/cluster-claim.ts';
import { listUnfinished, type UnfinishedJob, unfinishedJobs, unfinishedKey } from '../../data/jobs/job.ts';
import { forgetPosition, readPosition, savePosition } from '../../data/lists/list-position.ts';
import {
  putBack,
  setAside,
  type UnreadableRow,
  type WatchedPage,
  type WatchedPosition,
} from '../../data/lists/watched-list.ts';
import { UnreadableRecordError } from '../../data/table/unreadable-record.ts';
import { compareJobs, type Reconciler } from './reconcile.ts';

/** Pages of 100 jobs after which a pass notes how far it came. */
const pagesBetweenNotes = 20;

/** The result of a pass. */
export interface ReconcilePass {
  /** Rows that were set aside in this pass. */
  setAside: UnreadableRow[];
  /** Errors of jobs that failed and are compared again by the next pass. */
  errors: unknown[];
}

/** Compare the jobs of a page with Batch, and set aside those that can never be read. */
async function reconcilePage(
  reconciler: Reconciler,
  page: WatchedPage<UnfinishedJob>,
  pass: ReconcilePass,
): Promise<void> {
  const { records, now } = reconciler;
  const failed = await compareJobs(reconciler, page.items);
  const unreadable = [...page.unreadable];
  for (const [job, error] of failed) {
    const isSetAside = page.setAside.has(job);
    if (error instanceof UnreadableRecordError)
      unreadable.push({ key: unfinishedKey(job.job_id), error, isSetAside });
    else pass.errors.push(error);
  }
  for (const row of unreadable) if (await setAside(records, row, now())) pass.setAside.push(row);
  for (const job of page.setAside) if (!failed.has(job)) await putBack(records, unfinishedKey(job.job_id));
}

const start: WatchedPosition = { pk: unfinishedJobs.partitions[0], after: undefined };

/** Whether a position equals `other` or comes after it. */
function isFrom(position: WatchedPosition, other: WatchedPosition): boolean {
  const rank = ({ pk }: WatchedPosition) => unfinishedJobs.partitions.indexOf(pk);
  if (rank(position) !== rank(other)) return rank(position) > rank(other);
  return (position.after ?? '') >= (other.after ?? '');
}

/**
 * Compare every unfinished job with Batch, a page at a time. Start where the last pass ran out of time, and go once
 * round the list. Jobs whose records can never be read are set aside. A pass that read the whole list also corrects
 * what the vCPU limit and the claim of the cluster count.
 */
export async function reconcileAll(
  reconciler: Reconciler,
  hasTime: Deadline = () => true,
): Promise<ReconcilePass> {
  const { records } = reconciler;
  const pass: ReconcilePass = { setAside: [], errors: [] };
  const resumed = await readPosition(records, unfinishedJobs);
  const audits = [await auditVcpus(records), await auditCluster(records)];
  let isNoted = resumed !== undefined;
  let isRound = resumed === undefined;
  let isWhole = true;
  let position = resumed ?? start;
  for (let pages = 1; ; pages += 1) {
    const page = await listUnfinished(records, position);
    for (const job of page.items) for (const audit of audits) audit.add(job);
    isWhole &&= page.unreadable.length === 0;
    if (page.items.length + page.unreadable.length > 0) {
      try {
        await reconcilePage(reconciler, page, pass);
      } catch (error) {
        pass.errors.push(error);
      }
    }
    if (page.next === undefined && isRound) break;
    isRound ||= page.next === undefined;
    position = page.next ?? start;
    if (resumed !== undefined && isRound && isFrom(position, resumed)) break;
    const goesOn = hasTime();
    // A pass that dies leaves its position, so that no job behind the one that killed it waits for ever.
    if (!goesOn || pages % pagesBetweenNotes === 0) {
      await savePosition(records, unfinishedJobs, position);
      isNoted = true;
    }
    if (!goesOn) return pass;
  }
  if (isNoted) await forgetPosition(records, unfinishedJobs);
  // One that began in the middle may have read a row twice.
  if (isWhole && resumed === undefined) for (const audit of audits) await audit.correct();
  return pass;
}
