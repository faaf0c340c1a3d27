import type { FunctionRuntime } from '../../core/function-runtime.ts';
import { createLogger, type Logger } from '../../core/log.ts';
import { type Needs, openServices, type Platform, type Services } from '../../core/needs.ts';
import { readSettings, type Settings } from '../../core/settings.ts';
import type { WatchedList } from '../../data/lists/watched-list.ts';

/** The context of a function that an event or a job starts. */
export type TaskContext<N extends Needs> = Services<N> & { now(): Date; log: Logger; settings: Settings };

/**
 * A function that an event or a change of a list starts, or the program of a job. It declares its needs like an
 * endpoint.
 */
export interface Task<N extends Needs = Needs, E = unknown, R = void> {
  name: string;
  needs: N;
  /** Lists that it processes. It starts within minutes of a change of one, without polling. */
  watches?: readonly WatchedList[];
  /** Tasks that its Lambda function also runs; they have no function of their own. */
  includes?: readonly { name: string }[];
  /** Whether functions call it by its name. Then it has a function of its own, also if another one includes it. */
  isCalled?: true;
  /** Whether timers of EventBridge Scheduler start it. Then it also has a function of its own. */
  isTimed?: true;
  /** Settings of its Lambda function that differ from the default. */
  runtime?: FunctionRuntime;
  run(event: E, context: TaskContext<N>): Promise<R>;
}

export function defineTask<const N extends Needs, E, R>(task: Task<N, E, R>): Task<N, E, R> {
  return task;
}

/** The Lambda handler of a task. It reads the environment and opens clients at its first event, not on import. */
export function taskHandler<N extends Needs, E, R>(
  task: Task<N, E, R>,
  environment: Platform['environment'] = process.env,
) {
  let context: TaskContext<N> | undefined;
  return (event: E): Promise<R> => {
    context ??= startTask(task, environment);
    return task.run(event, context);
  };
}

function startTask<N extends Needs, E, R>(
  task: Task<N, E, R>,
  environment: Platform['environment'],
): TaskContext<N> {
  const settings = readSettings(environment);
  const log = createLogger(settings.logLevel, (line) => process.stdout.write(line), { task: task.name });
  // The cast holds: the services are opened from the needs that type them.
  const services = openServices(task.needs, { environment, settings }) as Services<N>;
  return { ...services, now: () => new Date(), log, settings };
}
