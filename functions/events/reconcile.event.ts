import { controlBatch } from '../../shared/aws/needs.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { defineTask, taskHandler } from '../../shared/endpoint/task.ts';
import { reconcileAll } from '../../shared/jobs/reconcile.ts';

/** On a schedule: compares every unfinished job with Batch. */
export const event = defineTask({
  name: 'reconcile',
  // Hundreds of unfinished jobs, each with some writes.
  runtime: { timeout: 240 },
  needs: { records: writeRecords, batch: controlBatch },

  async run(_: unknown, reconciler) {
    await reconcileAll(reconciler);
  },
});

export const handler = taskHandler(event);
