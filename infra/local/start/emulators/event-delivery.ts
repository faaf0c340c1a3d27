import { appendFile } from 'node:fs/promises';
import { event as archive } from '../../../../functions/events/archive.event.ts';
import { event as jobStateChanged } from '../../../../functions/events/job-state-changed.event.ts';
import { event as purge } from '../../../../functions/events/purge.event.ts';
import { event as reconcile } from '../../../../functions/events/reconcile.event.ts';
import type { Needs } from '../../../../shared/core/needs.ts';
import { type Task, taskHandler } from '../../../../shared/http/definition/task.ts';
import { eventEnvironment } from '../../access/local-roles.ts';
import type { EmulatorAccess } from '../function-environment.ts';

/**
 * Takes events to the function that a rule of EventBridge would invoke. One that is malformed becomes a dead letter at
 * once, for no other try would help; where the function fails otherwise, that is thrown, and the event is to come again.
 */
export function eventDelivery(
  handler: (event: unknown) => Promise<void>,
  deadLetters: Pick<DeadLetters, 'add'>,
): (event: unknown) => Promise<void> {
  return async (event) => {
    try {
      await handler(event);
    } catch (error) {
      if (!(error instanceof Error && error.name === 'ZodError')) throw error;
      await deadLetters.add(event, error);
    }
  };
}

/** Events that no function accepted, kept for the operator: the dead-letter queue. */
export class DeadLetters {
  readonly #file: string;

  /** @param file one line of JSON for each; made when the first one comes */
  constructor(file: string) {
    this.#file = file;
  }

  /** Keeps an event; resolves when it is on the disk. */
  async add(event: unknown, error: unknown): Promise<void> {
    const why = error instanceof Error ? error.message : String(error);
    const letter = { time: new Date().toISOString(), why, event };
    await appendFile(this.#file, `${JSON.stringify(letter)}\n`, { mode: 0o600, flush: true });
    process.stderr.write(`An event was not taken in; it is kept in ${this.#file}\n`);
  }
}

/** Delivers the events of the Batch server to their function; malformed ones are kept in this file. */
export const jobEventDelivery = (
  access: EmulatorAccess,
  deadLetterFile: string,
): ((event: unknown) => Promise<void>) =>
  eventDelivery(functionOf(jobStateChanged, access), new DeadLetters(deadLetterFile));

/** The function of a task, which acts in a role of its own. Its environment is read at its first event. */
function functionOf<N extends Needs, E>(task: Task<N, E>, { credentials, hasRoles }: EmulatorAccess) {
  let handler: ((event: E) => Promise<void>) | undefined;
  return (event: E): Promise<void> => {
    handler ??= taskHandler(task, hasRoles ? eventEnvironment(task, process.env, credentials) : process.env);
    return handler(event);
  };
}

/** Seconds of one pass over archives here, so that a stop waits no longer. */
const archiveSeconds = 5;

/** Invokes the scheduled functions, and `sweep` after them. Returns what stops it. */
export function startSchedule(access: EmulatorAccess, sweep: () => Promise<void>): () => Promise<void> {
  const [ofReconcile, ofPurge, ofArchive] = [
    functionOf(reconcile, access),
    functionOf(purge, access),
    functionOf(archive, access),
  ];
  const stops = [
    repeat(
      new Map([
        ['reconcile', () => ofReconcile(undefined)],
        ['purge', () => ofPurge(undefined)],
        ['sweep', sweep],
      ]),
    ),
    // Jobs and deletes do not wait for a large archive.
    repeat(new Map([['archive', () => ofArchive({ seconds: archiveSeconds })]])),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

const everyMilliseconds = 5_000;

/** Invokes functions one after the other, again and again, never one twice at once. Returns what stops it. */
function repeat(handlers: ReadonlyMap<string, () => Promise<void>>): () => Promise<void> {
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

async function runScheduled(handlers: ReadonlyMap<string, () => Promise<void>>): Promise<void> {
  for (const [name, handler] of handlers) {
    try {
      await handler();
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}
