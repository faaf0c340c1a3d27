import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { event as purge } from './purge.event.ts';
import { event as reconcile } from './reconcile.event.ts';

/**
 * Run two list-triggered tasks in one function. DynamoDB throttles the third reader of a shard, and the archive
 * function is the second reader, because it runs for a quarter of an hour. The tasks run in parallel, so neither
 * waits for the other. Both are idempotent: the failure of one repeats both.
 */
export const event = defineTask({
  name: 'sweep',
  runtime: purge.runtime ?? {},
  needs: { ...reconcile.needs, ...purge.needs },
  watches: [...(reconcile.watches ?? []), ...(purge.watches ?? [])],
  includes: [reconcile, purge],

  async run(started: unknown, context) {
    const passes = await Promise.allSettled([
      reconcile.run(started, { ...context, log: context.log.with({ task: reconcile.name }) }),
      purge.run(started, { ...context, log: context.log.with({ task: purge.name }) }),
    ]);
    const errors = passes.flatMap((pass): unknown[] => (pass.status === 'rejected' ? [pass.reason] : []));
    if (errors.length > 1) throw new AggregateError(errors, 'both passes failed');
    for (const error of errors) throw error;
  },
});

export const handler = taskHandler(event);
