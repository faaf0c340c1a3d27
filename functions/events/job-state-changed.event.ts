import * as z from 'zod';
import { batchJob } from '../../shared/aws/batch.ts';
import { controlBatch, publishMail, readProjectObjects, writeModelObjects } from '../../shared/aws/needs.ts';
import { forSeconds } from '../../shared/core/deadline.ts';
import { newId } from '../../shared/core/new-id.ts';
import { findUnfinished } from '../../shared/data/jobs/job.ts';
import { finalRank, rankOf } from '../../shared/data/jobs/job-status.ts';
import { findLease } from '../../shared/data/jobs/lease.ts';
import { readVariablesKey } from '../../shared/data/projects/variable.ts';
import { writeRecords } from '../../shared/data/table/needs.ts';
import type { TableReader } from '../../shared/data/table/table.ts';
import { advanceExportAfter } from '../../shared/exports/advance-export.ts';
import { deliverNotices, readForHooks } from '../../shared/hooks/deliver-notices.ts';
import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { jobOfBatchName, parseJobRecord } from '../../shared/jobs/job-record.ts';
import { observeBuild, observeJob } from '../../shared/jobs/observation.ts';
import { submitInRequest } from '../../shared/jobs/submission.ts';
import { startWaiting } from '../../shared/jobs/waiting-queue.ts';
import { takeTurnAfter } from '../../shared/sweeps/trials/take-turns.ts';

const Container = z.object({ exitCode: z.number().optional(), reason: z.string().optional() });

/**
 * The event that Batch sends, reduced to the fields that are read. Any other event throws and ends in the
 * dead-letter queue.
 */
const Event = z.object({
  detail: z.object({
    jobId: z.string(),
    jobName: z.string(),
    status: z.enum(['SUBMITTED', 'PENDING', 'RUNNABLE', 'STARTING', 'RUNNING', 'SUCCEEDED', 'FAILED']),
    statusReason: z.string().optional(),
    container: Container.optional(),
    isTerminated: z.boolean().optional(),
    isCancelled: z.boolean().optional(),
    retryStrategy: z.object({ attempts: z.number().optional() }).optional(),
    attempts: z
      .array(
        z.object({
          container: Container.optional(),
          startedAt: z.number().optional(),
          stoppedAt: z.number().optional(),
          statusReason: z.string().optional(),
        }),
      )
      .optional(),
  }),
});

/** Seconds for messages after a change, of the 60 of this function. */
const noticeSeconds = 20;

/** Find the owner of an ended job by the lease of its container. */
async function ownerByLease(records: TableReader<'records'>, job_id: string): Promise<string | undefined> {
  return (await findLease(records, job_id, 0))?.user_id;
}

/**
 * Record a state change of a Batch job. Events come at least once and in any order. The end of a job starts the
 * next waiting job, lets its sweep decide, and registers and compresses the model of an export; a job that only lost its hosts is submitted again. Messages about it are sent at once; those that are left go with the
 * next pass of `notify`.
 */
export const event = defineTask({
  name: 'jobStateChanged',
  runtime: { timeout: 60 },
  needs: {
    records: writeRecords,
    batch: controlBatch,
    keys: readVariablesKey,
    accounts: readForHooks,
    mail: publishMail,
    models: writeModelObjects,
    artifacts: readProjectObjects,
  },

  async run(received: unknown, context) {
    const { records, batch, keys, accounts, mail, settings, now, log } = context;
    const { detail } = Event.parse(received);
    const owner = jobOfBatchName(detail.jobName);
    const job = batchJob(detail);
    if (owner === undefined || job === undefined)
      return log.debug('foreign-job', { job_name: detail.jobName });
    const unfinished = await findUnfinished(records, owner.job_id);
    const item = unfinished && (await records.get(unfinished.subject));
    if (item === undefined) log.debug('job-over', { job_name: detail.jobName });
    else {
      const record = parseJobRecord(item);
      if (owner.isBuild) await observeBuild(records, record, job, now());
      else {
        const again = await observeJob(records, record, job, now());
        if (again !== undefined)
          await submitInRequest(again, { records, batch, keys, settings, now, log }, false);
      }
    }
    if (rankOf(job.status) === finalRank) {
      const user_id = unfinished?.user_id ?? (await ownerByLease(records, owner.job_id));
      await startWaiting({ records, batch, keys, settings, now }, user_id, log);
      await takeTurnAfter({ records, batch, keys, settings, now, newId, log }, owner.job_id);
      await advanceExportAfter({ ...context, users: accounts, newId }, owner.job_id);
    }
    const hooks = { records, accounts, mail, admitted: settings.hookHosts, now, newId, log };
    await deliverNotices(hooks, forSeconds(noticeSeconds));
  },
});

export const handler = taskHandler(event);
