import { event as purge } from '../../../../functions/events/purge.event.ts';
import { event as reconcile } from '../../../../functions/events/reconcile.event.ts';
import { createLogger } from '../../../../shared/core/log.ts';
import type { Service } from './service.ts';

/** One pass of what the schedule invokes, as if `seconds` had gone by: the reconciler, then the purge. */
export async function pass(service: Service, seconds = 0): Promise<void> {
  const now = () => new Date(Date.now() + seconds * 1000);
  const log = createLogger('error', (line) => process.stderr.write(line), {});
  const context = { ...service, keys: service.accounts, now, log };
  const reconciled = await Promise.allSettled([reconcile.run(undefined, context)]);
  // The one failing keeps the other from nothing, as in the schedule.
  await purge.run(undefined, context);
  for (const one of reconciled) if (one.status === 'rejected') throw one.reason;
}
