import { publishMail } from '../../shared/aws/needs.ts';
import { forSeconds } from '../../shared/core/deadline.ts';
import { newId } from '../../shared/core/new-id.ts';
import { repeatsByItself, scheduleNextPass } from '../../shared/data/lists/watched-list.ts';
import { writeRecords } from '../../shared/data/table/needs.ts';
import { deliverNotices, hookLists, readForHooks } from '../../shared/hooks/deliver-notices.ts';
import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';

/** Seconds of one pass. A claim of a hook lasts longer. */
const seconds = 60;

/**
 * Send messages about events to the hooks of projects. Runs while messages are to be sent, and is called by those who write
 * notices.
 */
export const event = defineTask({
  name: 'notify',
  runtime: { timeout: seconds + 30 },
  needs: { accounts: readForHooks, records: writeRecords, mail: publishMail },
  watches: hookLists,
  isCalled: true,

  async run(started: unknown, { accounts, records, mail, settings, now, log }) {
    if (!repeatsByItself(started)) for (const list of hookLists) await scheduleNextPass(records, list);
    const context = { accounts, records, mail, admitted: settings.hookHosts, now, newId, log };
    await deliverNotices(context, forSeconds(seconds));
  },
});

export const handler = taskHandler(event);
