import { errorStack } from '../../shared/core/error-text.ts';
import type { Logger } from '../../shared/core/log.ts';
import { endPass, takePass } from '../../shared/data/lists/pass-lease.ts';
import { scheduleNextPass } from '../../shared/data/lists/watched-list.ts';
import type { TableWriter } from '../../shared/data/table/table.ts';
import type { Task } from '../../shared/http/definition/task.ts';

/**
 * Run the pass of a task that changes of its lists start, unless another process runs one: each shard of each stream
 * starts the function. Another pass follows within minutes, because the lists are changed first. So a pass that fails is not
 * repeated at once. @throws the error of the pass if all passes of two hours have failed
 */
export async function runAlone(
  { accounts, records, now, log }: Stores,
  { name, watches = [], runtime }: WatchingTask,
  run: (started: { repeats: true }) => Promise<void>,
): Promise<void> {
  const scheduleAgain = async (isExpiring: boolean) => {
    for (const list of watches)
      if ((list.startsByExpiry === true) === isExpiring)
        await scheduleNextPass(list.table === 'accounts' ? accounts : records, list);
  };
  // What expires needs no pass before then.
  await scheduleAgain(false);
  const pass = await takePass(records, name, runtime?.timeout ?? usualSeconds, now());
  if (pass === undefined) {
    // The running pass may be past what has just expired.
    await scheduleAgain(true);
    return log.info('pass-skipped', { task: name });
  }
  try {
    await run({ repeats: true });
  } catch (error) {
    const since = pass.failing_since ?? now().toISOString();
    await endPass(records, name, pass, since, now());
    // What has expired starts no other pass.
    await scheduleAgain(true);
    if (now().getTime() - Date.parse(since) >= failingMilliseconds) throw error;
    return log.error('pass-failed', { task: name, since, stack: errorStack(error) });
  }
  await endPass(records, name, pass, null, now());
}

interface Stores {
  accounts: TableWriter<'accounts'>;
  records: TableWriter<'records'>;
  now(): Date;
  log: Logger;
}

type WatchingTask = Pick<Task, 'name' | 'watches' | 'runtime'>;

const usualSeconds = 300;

/** Time after which failing passes raise the alarm of the dead letters. */
const failingMilliseconds = 2 * 3_600_000;
