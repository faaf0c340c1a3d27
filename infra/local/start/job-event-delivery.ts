import { event as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { event as reconcile } from '../../../functions/events/reconcile.event.ts';
import type { Needs } from '../../../shared/core/needs.ts';
import { type Task, taskHandler } from '../../../shared/task/task.ts';
import { eventEnvironment } from '../role/local-roles.ts';
import { DeadLetters, eventDelivery } from './dead-letters.ts';
import type { EngineAccess } from './function-environment.ts';

const everyMilliseconds = 5_000;

/** The function of a task, which acts in a role of its own. Its environment is read at its first event. */
function functionOf<N extends Needs, E>(task: Task<N, E>, { credentials, hasRoles }: EngineAccess) {
  let handler: ((event: E) => Promise<void>) | undefined;
  return (event: E): Promise<void> => {
    handler ??= taskHandler(task, hasRoles ? eventEnvironment(task, process.env, credentials) : process.env);
    return handler(event);
  };
}

/** Delivers the events of the Batch server to their function; malformed ones are kept in this file. */
export const jobEventDelivery = (
  access: EngineAccess,
  deadLetterFile: string,
): ((event: unknown) => Promise<void>) =>
  eventDelivery(functionOf(jobStateChanged, access), new DeadLetters(deadLetterFile));

async function runScheduled(handlers: ReadonlyMap<string, () => Promise<void>>): Promise<void> {
  for (const [name, handler] of handlers) {
    try {
      await handler();
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}

/**
 * Invokes the scheduled functions again and again, and `sweep` after them, never one twice at once. Returns what stops
 * it.
 */
export function startSchedule(access: EngineAccess, sweep: () => Promise<void>): () => Promise<void> {
  const [ofReconcile, ofPurge] = [functionOf(reconcile, access), functionOf(purge, access)];
  const handlers = new Map([
    ['reconcile', () => ofReconcile(undefined)],
    ['purge', () => ofPurge(undefined)],
    ['sweep', sweep],
  ]);
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= runScheduled(handlers).finally(() => {
      running = undefined;
    });
  }, everyMilliseconds);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
