import { controlBatch, readProjectObjects, writeModelObjects } from '../../shared/aws/needs.ts';
import { forSeconds } from '../../shared/core/deadline.ts';
import { newId } from '../../shared/core/new-id.ts';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import {
  type ExportStep,
  exportStepKey,
  exportSteps,
  listExportSteps,
} from '../../shared/data/experiments/export-step.ts';
import {
  repeatsByItself,
  scheduleNextPass,
  type WatchedPosition,
} from '../../shared/data/lists/watched-list.ts';
import { readVariablesKey } from '../../shared/data/projects/variable.ts';
import { writeRecords } from '../../shared/data/table/needs.ts';
import { advanceExport } from '../../shared/exports/advance-export.ts';
import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { drainList } from '../../shared/purge/drain-list.ts';

/** Seconds of one pass. What is left waits for the next one. */
const seconds = 60;

/** Register and compress the models of exports that have ended, if the event of their end could not. */
export const event = defineTask({
  name: 'exports',
  runtime: { timeout: seconds + 60 },
  needs: {
    users: readUsers,
    records: writeRecords,
    batch: controlBatch,
    keys: readVariablesKey,
    models: writeModelObjects,
    artifacts: readProjectObjects,
  },
  watches: [exportSteps],

  async run(started: unknown, { settings, now, log, ...services }) {
    const { records } = services;
    const context = { ...services, settings, now, newId, log };
    if (!repeatsByItself(started)) await scheduleNextPass(records, exportSteps);
    await drainList(
      {
        table: records,
        list: (position: WatchedPosition | undefined) => listExportSteps(records, position),
        keyOf: ({ experiment_id }: ExportStep) => exportStepKey(experiment_id),
        work: (step: ExportStep) => advanceExport(context, step),
      },
      forSeconds(seconds),
      log,
      now,
    );
  },
});

export const handler = taskHandler(event);
