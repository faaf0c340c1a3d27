import { controlBatch, writeObjects } from '../../shared/aws/needs.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { listPurges } from '../../shared/data/purge.ts';
import { defineTask, taskHandler } from '../../shared/endpoint/task.ts';
import { purgeExperiments } from '../../shared/purge/purge-experiments.ts';
import { forSeconds, runPurge } from '../../shared/purge/run-purge.ts';

/** What is not removed by then waits for the next run. */
const seconds = 240;

/** On a schedule: removes what deletes have left, however large, and resumes what a crash interrupted. */
export const event = defineTask({
  name: 'purge',
  needs: { records: writeRecords, objects: writeObjects, batch: controlBatch },

  async run(_: unknown, { records, objects, batch, settings, now, log }) {
    const stillTime = forSeconds(seconds);
    let after: string | undefined;
    do {
      const page = await listPurges(records, after);
      for (const purge of page.items) {
        if (purge.again_at !== null && Date.parse(purge.again_at) > now().getTime()) continue;
        try {
          await runPurge(records, objects, purge, stillTime, async ({ project_id }) =>
            project_id === undefined
              ? true
              : purgeExperiments({ records, batch, settings, now }, project_id, stillTime),
          );
        } catch (error) {
          // One that fails must not keep the others from their turn; it comes again itself.
          log.error('purge-failed', {
            purge_id: purge.purge_id,
            stack: error instanceof Error ? error.stack : '',
          });
        }
      }
      after = page.next;
    } while (after !== undefined && stillTime());
  },
});

export const handler = taskHandler(event);
