import * as z from 'zod';
import { batchJob } from '../../shared/aws/batch.ts';
import { findUnfinished } from '../../shared/data/job.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { observeBuild, observeJob } from '../../shared/jobs/observe.ts';
import { jobOfBatchName, parseJobRecord } from '../../shared/jobs/subject.ts';
import { defineTask, taskHandler } from '../../shared/task/task.ts';

const Container = z.object({ exitCode: z.number().optional(), reason: z.string().optional() });

/** The event that Batch sends; only what is read of it. Anything else throws and ends in the dead-letter queue. */
const Event = z.object({
  detail: z.object({
    jobId: z.string(),
    jobName: z.string(),
    status: z.enum(['SUBMITTED', 'PENDING', 'RUNNABLE', 'STARTING', 'RUNNING', 'SUCCEEDED', 'FAILED']),
    statusReason: z.string().optional(),
    container: Container.optional(),
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

/** Takes in a state change of a Batch job. Events come at least once and in any order. */
export const event = defineTask({
  name: 'jobStateChanged',
  needs: { records: writeRecords },

  async run(received: unknown, { records, now, log }) {
    const { detail } = Event.parse(received);
    const owner = jobOfBatchName(detail.jobName);
    const job = batchJob(detail);
    if (owner === undefined || job === undefined)
      return log.debug('foreign-job', { job_name: detail.jobName });
    const unfinished = await findUnfinished(records, owner.job_id);
    const item = unfinished && (await records.get(unfinished.subject));
    if (item === undefined) return log.debug('job-over', { job_name: detail.jobName });
    const observe = owner.isBuild ? observeBuild : observeJob;
    await observe(records, parseJobRecord(item), job, now());
  },
});

export const handler = taskHandler(event);
