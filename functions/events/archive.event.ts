import * as z from 'zod';
import { writeProjectObjects } from '../../shared/aws/needs.ts';
import { forSeconds } from '../../shared/core/deadline.ts';
import { newId } from '../../shared/core/new-id.ts';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import {
  repeatsByItself,
  scheduleNextPass,
  type WatchedPosition,
} from '../../shared/data/lists/watched-list.ts';
import {
  type ArchiveWork,
  archiveWorkKey,
  listArchiveWork,
  parseExport,
  parseImport,
  removeArchiveWork,
  unfinishedArchives,
} from '../../shared/data/projects/project-archives.ts';
import { writeRecords } from '../../shared/data/table/needs.ts';
import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { runExport } from '../../shared/project-archive/export/run-export.ts';
import { runImport } from '../../shared/project-archive/import/run-import.ts';
import { drainList } from '../../shared/purge/drain-list.ts';

/**
 * Seconds of one run; the rest waits for the next run. The largest file must be copied in one run, because a run
 * cannot resume in the middle of a file.
 */
const usualSeconds = 780;

/** Event that starts the function: a change of the list, or a timer that sets the duration in seconds. */
const Started = z.object({ seconds: z.number().optional().catch(undefined) }).catch({ seconds: undefined });

/** Continue exports and imports of projects until they end, also after a crash. */
export const event = defineTask({
  name: 'archive',
  // Memory holds one part of the archive, the parts of one file, and the list of files at the same time.
  runtime: { timeout: usualSeconds + 120, memory: 1769 },
  needs: { accounts: readUsers, records: writeRecords, objects: writeProjectObjects },
  watches: [unfinishedArchives],

  async run(started: unknown, { accounts, records, objects, settings, now, log }) {
    const { seconds = usualSeconds } = Started.parse(started);
    const hasTime = forSeconds(seconds);
    if (!repeatsByItself(started)) await scheduleNextPass(records, unfinishedArchives);
    const { projectBytes } = settings.limits;
    const context = { accounts, records, objects, newId, now, projectBytes, deployment: settings };
    const goOn = async ({ id, of, subject }: ArchiveWork): Promise<void> => {
      const item = await records.get(subject);
      const one = item && (of === 'export' ? parseExport(item) : parseImport(item));
      const isIt = one !== undefined && ('export_id' in one ? one.export_id : one.import_id) === id;
      // The project was deleted, or another export or import replaced this one.
      if (!isIt || one.status !== 'RUNNING') await records.write(removeArchiveWork(id));
      else if ('export_id' in one) await runExport(context, one, hasTime, log);
      else await runImport(context, one, hasTime, log);
    };
    await drainList(
      {
        table: records,
        list: (position: WatchedPosition | undefined) => listArchiveWork(records, position),
        keyOf: ({ id }: ArchiveWork) => archiveWorkKey(id),
        work: goOn,
      },
      hasTime,
      log,
      now,
    );
  },
});

export const handler = taskHandler(event);
