import { controlBatch, writeObjects } from '../../shared/aws/needs.ts';
import { forSeconds } from '../../shared/core/deadline.ts';
import { newId } from '../../shared/core/new-id.ts';
import {
  type ClosedAccount,
  closedAccountKey,
  closedAccounts,
  listClosedAccounts,
} from '../../shared/data/accounts/closed-account.ts';
import { clearAccounts } from '../../shared/data/accounts/needs.ts';
import {
  repeatsByItself,
  scheduleNextPass,
  type WatchedPosition,
} from '../../shared/data/lists/watched-list.ts';
import {
  listPurges,
  type Purge,
  purgeKey,
  retainedList,
  unfinishedPurges,
} from '../../shared/data/projects/purge.ts';
import { readVariablesKey } from '../../shared/data/projects/variable.ts';
import { writeRecords } from '../../shared/data/table/needs.ts';
import { endBegunByLost } from '../../shared/experiments/begun-experiments.ts';
import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { clearAccount } from '../../shared/purge/clear-account.ts';
import { drainList } from '../../shared/purge/drain-list.ts';
import { purgeAnnounced } from '../../shared/purge/purge-announced.ts';
import { purgeExperiments } from '../../shared/purge/purge-experiments.ts';
import { purgeMembers } from '../../shared/purge/purge-members.ts';
import { purgeRetained } from '../../shared/purge/purge-retained.ts';
import { runPurge } from '../../shared/purge/run-purge.ts';

/** Seconds of one run. The remaining purges wait for the next run. */
const seconds = 240;

/** Remove the leftovers of deletes, of any size, and resume interrupted purges. Runs while a purge is pending. */
export const event = defineTask({
  name: 'purge',
  runtime: { timeout: seconds + 60 },
  needs: {
    accounts: clearAccounts,
    records: writeRecords,
    objects: writeObjects,
    batch: controlBatch,
    keys: readVariablesKey,
  },
  watches: [closedAccounts, unfinishedPurges, retainedList],

  async run(started: unknown, { accounts, records, objects, batch, keys, settings, now, log }) {
    const hasTime = forSeconds(seconds);
    if (!repeatsByItself(started)) {
      await scheduleNextPass(accounts, closedAccounts);
      await scheduleNextPass(records, unfinishedPurges);
    }
    const closed = {
      table: accounts,
      list: (position: WatchedPosition | undefined) => listClosedAccounts(accounts, position),
      keyOf: ({ user_id }: ClosedAccount) => closedAccountKey(user_id),
      work: (one: ClosedAccount) => clearAccount({ accounts, records }, one, hasTime, now()),
    };
    const purges = {
      table: records,
      list: (position: WatchedPosition | undefined) => listPurges(records, position),
      keyOf: ({ purge_id }: Purge) => purgeKey(purge_id),
      async work(purge: Purge) {
        if (purge.again_at !== null && Date.parse(purge.again_at) > now().getTime()) return;
        const { announced } = purge.target;
        if (announced !== undefined)
          return purgeAnnounced({ records, objects, now: now() }, purge, announced);
        const endFirst = async ({ project_id, target: { begun_by } }: Purge) =>
          (begun_by === undefined || (await endBegunByLost({ records, now, log }, begun_by, hasTime))) &&
          (project_id === undefined ||
            ((await purgeMembers(records, project_id, hasTime)) &&
              (await purgeExperiments({ records, batch, keys, settings, now }, project_id, hasTime))));
        await runPurge(records, objects, purge, hasTime, endFirst, now());
      },
    };
    await drainList(closed, hasTime, log, now);
    await purgeRetained({ records, newId, now, log }, hasTime);
    await drainList(purges, hasTime, log, now);
  },
});

export const handler = taskHandler(event);
