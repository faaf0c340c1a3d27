import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { event as exports } from './exports.event.ts';
import { event as notify } from './notify.event.ts';
import { event as purge } from './purge.event.ts';
import { event as reconcile } from './reconcile.event.ts';
import { runAlone } from './run-alone.ts';
import { event as schedules } from './schedules.event.ts';

const tasks = [reconcile, purge, notify, schedules, exports] as const;
const runtimeOfAll = { runtime: purge.runtime ?? {} };

/**
 * Run five list-triggered tasks in one function. DynamoDB throttles the third reader of a shard, and the archive
 * function is the second reader, because it runs for a quarter of an hour. The tasks run in parallel, so none
 * waits for another. Several invocations run at once, one for each shard of each table's stream: a lease lets one of
 * them run the pass of a task.
 */
export const event = defineTask({
  name: 'backgroundPass',
  ...runtimeOfAll,
  needs: { ...notify.needs, ...reconcile.needs, ...purge.needs, ...schedules.needs, ...exports.needs },
  watches: tasks.flatMap(({ watches = [] }) => watches),
  includes: tasks,

  async run(_: unknown, context) {
    const alone = (task: (typeof tasks)[number]) =>
      // A pass may last as long as this function.
      runAlone(context, { ...task, ...runtimeOfAll }, (started) =>
        task.run(started, { ...context, log: context.log.with({ task: task.name }) }),
      );
    const passes = await Promise.allSettled(tasks.map(alone));
    const errors = passes.flatMap((pass): unknown[] => (pass.status === 'rejected' ? [pass.reason] : []));
    if (errors.length > 1) throw new AggregateError(errors, 'several passes failed');
    for (const error of errors) throw error;
  },
});

export const handler = taskHandler(event);
