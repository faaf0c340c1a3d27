import { controlBatch } from '../../shared/aws/needs.ts';
import { unfinishedJobs } from '../../shared/data/job.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { comeAgain } from '../../shared/data/watched-list.ts';
import { defineTask, taskHandler } from '../../shared/endpoint/task.ts';
import { reconcileAll } from '../../shared/jobs/reconcile.ts';

/** While jobs are unfinished: compares each with Batch, every few minutes. */
export const event = defineTask({
  name: 'reconcile',
  // Hundreds of unfinished jobs, each with some writes.
  runtime: { timeout: 240 },
  needs: { records: writeRecords, batch: controlBatch },
  watches: [unfinishedJobs],

  async run(_: unknown, reconciler) {
    await comeAgain(reconciler.records, unfinishedJobs);
    await reconcileAll(reconciler);
  },
});

export const handler = taskHandler(event);
