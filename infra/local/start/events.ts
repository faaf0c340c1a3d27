import { handler as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { handler as reconcile } from '../../../functions/events/reconcile.event.ts';

const reconcileEveryMilliseconds = 5_000;

/** Takes an event of the Batch server to the function that a rule of EventBridge would invoke. */
export async function deliverJobEvent(event: unknown): Promise<void> {
  await jobStateChanged(event);
}

/** Invokes the scheduled function again and again, never twice at once. Returns what stops it. */
export function startSchedule(): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let isBusy = false;
  const tick = async () => {
    try {
      await reconcile(undefined);
    } catch (error) {
      process.stderr.write(`reconcile: ${error instanceof Error ? error.message : String(error)}\n`);
    }
    isBusy = false;
  };
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    running = tick();
  }, reconcileEveryMilliseconds);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
