import * as z from 'zod';
import { controlBatch } from '../../shared/aws/needs.ts';
import { forSeconds } from '../../shared/core/deadline.ts';
import { Timestamp } from '../../shared/core/formats.ts';
import { newId } from '../../shared/core/new-id.ts';
import { unfinishedJobs } from '../../shared/data/jobs/job.ts';
import { waitingLines } from '../../shared/data/jobs/waiting-line.ts';
import { logSetAside, repeatsByItself, scheduleNextPass } from '../../shared/data/lists/watched-list.ts';
import { readVariablesKey } from '../../shared/data/projects/variable.ts';
import { sweepTurns } from '../../shared/data/sweeps/sweep-turn.ts';
import { writeRecords } from '../../shared/data/table/needs.ts';
import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { reconcileAll } from '../../shared/jobs/reconciliation.ts';
import { startAllWaiting } from '../../shared/jobs/waiting-queue.ts';
import { takeAllTurns } from '../../shared/sweeps/trials/take-turns.ts';

/** Seconds of one pass. The remaining jobs wait for the next pass. */
const seconds = 200;

/** Event that starts the function: a change of a list, or the timer of a machine with the start of its service. */
const Started = z
  .object({ alone_since: Timestamp.optional().catch(undefined) })
  .catch({ alone_since: undefined });

/**
 * Compare each unfinished job with Batch, start waiting jobs if there is room, and take the decisions that sweeps owe.
 * Runs every few minutes while jobs are unfinished or waiting, or decisions are owed.
 */
export const event = defineTask({
  name: 'reconcile',
  runtime: { timeout: seconds + 40 },
  needs: { records: writeRecords, batch: controlBatch, keys: readVariablesKey },
  watches: [unfinishedJobs, waitingLines, sweepTurns],

  async run(started: unknown, services) {
    const { alone_since } = Started.parse(started);
    const aloneSince = alone_since === undefined ? undefined : new Date(alone_since);
    const reconciler = { ...services, aloneSince };
    if (!repeatsByItself(started))
      for (const list of [unfinishedJobs, waitingLines, sweepTurns])
        await scheduleNextPass(reconciler.records, list);
    const hasTime = forSeconds(seconds);
    const { setAside, errors } = await reconcileAll(reconciler, hasTime);
    await startAllWaiting(reconciler);
    await takeAllTurns({ ...reconciler, newId }, hasTime);
    for (const row of setAside) logSetAside(reconciler.log, row);
    for (const error of errors) throw error;
  },
});

export const handler = taskHandler(event);
