import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { event as notify } from './notify.event.ts';
import { event as purge } from './purge.event.ts';
import { event as reconcile } from './reconcile.event.ts';

/**
 * Run three list-triggered tasks in one function. DynamoDB throttles the third reader of a shard, and the archive
 * function is the second reader, because it runs for a quarter of an hour. The tasks run in parallel, so none
 * waits for another. All are idempotent: the failure of one repeats all.
 */
export const event = defineTask({
  name: 'sweep',
  runtime: purge.runtime ?? {},
  needs: { ...notify.needs, ...reconcile.needs, ...purge.needs },
  watches: [...(reconcile.watches ?? []), ...(purge.watches ?? []), ...(notify.watches ?? [])],
  includes: [reconcile, purge, notify],

  async run(started: unknown, context) {
    const passes = await Promise.allSettled([
      reconcile.run(started, { ...context, log: context.log.with({ task: reconcile.name }) }),
      purge.run(started, { ...context, log: context.log.with({ task: purge.name }) }),
      notify.run(started, { ...context, log: context.log.with({ task: notify.name }) }),
    ]);
    const errors = passes.flatMap((pass): unknown[] => (pass.status === 'rejected' ? [pass.reason] : []));
    if (errors.length > 1) throw new AggregateError(errors, 'several passes failed');
    for (const error of errors) throw error;
  },
});

export const handler = taskHandler(event);
