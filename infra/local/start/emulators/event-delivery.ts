import { appendFile } from 'node:fs/promises';
import { event as archive } from '../../../../functions/events/archive.event.ts';
import { event as exports } from '../../../../functions/events/exports.event.ts';
import { event as jobStateChanged } from '../../../../functions/events/job-state-changed.event.ts';
import { event as notify } from '../../../../functions/events/notify.event.ts';
import { event as purge } from '../../../../functions/events/purge.event.ts';
import { event as reconcile } from '../../../../functions/events/reconcile.event.ts';
import { event as schedules } from '../../../../functions/events/schedules.event.ts';
import { errorText } from '../../../../shared/core/error-text.ts';
import type { Needs } from '../../../../shared/core/needs.ts';
import { type Task, taskHandler } from '../../../../shared/http/definition/task.ts';
import { eventEnvironment } from '../../access/local-roles.ts';
import type { EmulatorAccess } from '../function-environment.ts';

/**
 * Deliver events to the function that an EventBridge rule would invoke. A malformed event becomes a dead letter at
 * once, because a retry would not help. For any other failure of the function, throw, so that the sender retries.
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

/** The dead-letter queue: events that no function accepted, kept for the operator. */
export class DeadLetters {
  readonly #file: string;

  /** @param file has one line of JSON per event; the first event creates it */
  constructor(file: string) {
    this.#file = file;
  }

  /** Append an event. Resolve when it is on the disk. */
  async add(event: unknown, error: unknown): Promise<void> {
    const why = error instanceof Error ? error.message : String(error);
    const letter = { time: new Date().toISOString(), why, event };
    await appendFile(this.#file, `${JSON.stringify(letter)}\n`, { mode: 0o600, flush: true });
    process.stderr.write(`An event was not processed. It is kept in ${this.#file}\n`);
  }
}

/**
 * Deliver the events of the Batch server to their function. Keep malformed ones in this file.
 * @param ready resolves once the environment of the functions is whole
 */
export const jobEventDelivery = (
  access: EmulatorAccess,
  deadLetterFile: string,
  ready: Promise<void>,
): ((event: unknown) => Promise<void>) =>
  onceReady(ready, eventDelivery(functionOf(jobStateChanged, access), new DeadLetters(deadLetterFile)));

/**
 * Hold events back until the functions may run. A function reads its environment at its first event; one that ran
 * before the address of Batch was known could submit no job for as long as the service runs.
 */
export const onceReady =
  (ready: Promise<void>, deliver: (event: unknown) => Promise<void>) =>
  async (event: unknown): Promise<void> => {
    await ready;
    await deliver(event);
  };

/** Return the handler of a task, which runs in its own role. Read its environment at the first event. */
function functionOf<N extends Needs, E>(task: Task<N, E>, { credentials, hasRoles }: EmulatorAccess) {
  let handler: ((event: E) => Promise<void>) | undefined;
  return (event: E): Promise<void> => {
    handler ??= taskHandler(task, hasRoles ? eventEnvironment(task, process.env, credentials) : process.env);
    return handler(event);
  };
}

/** Time limit of one pass over archives. A stop waits no longer than that. */
const archiveSeconds = 5;

/**
 * Invoke the scheduled functions, then `cleanUp`. Return a function that stops the schedule.
 * @param alone_since start of this service: nobody else submits the jobs that were recorded before
 */
export function startSchedule(
  access: EmulatorAccess,
  alone_since: string,
  cleanUp: () => Promise<void>,
): () => Promise<void> {
  const [ofReconcile, ofPurge, ofArchive, ofNotify, ofSchedules, ofExports] = [
    functionOf(reconcile, access),
    functionOf(purge, access),
    functionOf(archive, access),
    functionOf(notify, access),
    functionOf(schedules, access),
    functionOf(exports, access),
  ];
  const stops = [
    repeat(
      new Map([
        ['reconcile', () => ofReconcile({ alone_since, repeats: true })],
        ['purge', () => ofPurge({ repeats: true })],
        ['data-folder-cleanup', cleanUp],
      ]),
    ),
    // Run archives separately, so that jobs and deletes do not wait for a large one.
    repeat(new Map([['archive', () => ofArchive({ seconds: archiveSeconds, repeats: true })]])),
    // A run begins within seconds of its time, also while others are reconciled.
    repeat(new Map([['schedules', () => ofSchedules({ repeats: true })]]), timesMilliseconds),
    repeat(new Map([['exports', () => ofExports({ repeats: true })]])),
    overlap('notify', () => ofNotify({ repeats: true })),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

const everyMilliseconds = 5_000;
/** A look at the times of schedules is one query of what is due. */
const timesMilliseconds = 2_000;
/** A service that was killed left jobs to submit and decisions to take. */
const firstMilliseconds = 500;

/** Invoke the functions in sequence, repeatedly; runs never overlap. Return a function that stops this. */
function repeat(
  handlers: ReadonlyMap<string, () => Promise<void>>,
  milliseconds = everyMilliseconds,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const run = () => {
    running ??= runScheduled(handlers).finally(() => {
      running = undefined;
    });
  };
  const timers = [setTimeout(run, firstMilliseconds), setInterval(run, milliseconds)];
  return async () => {
    for (const timer of timers) clearTimeout(timer);
    await running;
  };
}

/**
 * Invoke a function every second, also while earlier runs have not ended: a receiver that does not answer must not hold
 * up messages to others. Return a function that stops this. It waits for no run, because every run may be killed.
 */
function overlap(name: string, handler: () => Promise<void>): () => Promise<void> {
  let running = 0;
  let isStopped = false;
  const timer = setInterval(() => {
    if (running >= maxOverlapping) return;
    running += 1;
    handler()
      .catch((error: unknown) => {
        if (!isStopped) process.stderr.write(`${name}: ${errorText(error)}\n`);
      })
      .finally(() => {
        running -= 1;
      });
  }, 1_000);
  return async () => {
    isStopped = true;
    clearInterval(timer);
  };
}

const maxOverlapping = 16;

async function runScheduled(handlers: ReadonlyMap<string, () => Promise<void>>): Promise<void> {
  for (const [name, handler] of handlers) {
    try {
      await handler();
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}
