import { handler as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { handler as purge } from '../../../functions/events/purge.event.ts';
import { handler as reconcile } from '../../../functions/events/reconcile.event.ts';
import { DeadLetters, eventDelivery } from './dead-letters.ts';

const everyMilliseconds = 5_000;

/** What a schedule of EventBridge would invoke. */
const scheduled = { reconcile, purge };

/** What takes the events of the Batch server to their function; those that are malformed are kept in this file. */
export const jobEventDelivery = (deadLetterFile: string): ((event: unknown) => Promise<void>) =>
  eventDelivery(jobStateChanged, new DeadLetters(deadLetterFile));

async function runScheduled(): Promise<void> {
  for (const [name, handler] of Object.entries(scheduled)) {
    try {
      await handler(undefined);
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}

/** Invokes the scheduled functions again and again, never one twice at once. Returns what stops it. */
export function startSchedule(): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= runScheduled().finally(() => {
      running = undefined;
    });
  }, everyMilliseconds);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
