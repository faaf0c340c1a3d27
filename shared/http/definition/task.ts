import type { FunctionRuntime } from '../../core/function-runtime.ts';
import { createLogger, type Logger } from '../../core/log.ts';
import { type Needs, openServices, type Platform, type Services } from '../../core/needs.ts';
import { readSettings, type Settings } from '../../core/settings.ts';
import type { WatchedList } from '../../data/lists/watched-list.ts';

/** What a function that no HTTP request starts receives: an event's or a job's. */
export type TaskContext<N extends Needs> = Services<N> & { now(): Date; log: Logger; settings: Settings };

/** A function started by an event or by what changes on a list, or the program of a job, with what it needs stated as an endpoint's. */
export interface Task<N extends Needs = Needs, E = unknown, R = void> {
  name: string;
  needs: N;
  /** Lists on which it works: it is started within minutes of any change of one, and does not ask while none changes. */
  watches?: readonly WatchedList[];
  /** Tasks that its function does, which have none of their own in the cloud. */
  includes?: readonly { name: string }[];
  /** What its function in the cloud has beyond the usual. */
  runtime?: FunctionRuntime;
  run(event: E, context: TaskContext<N>): Promise<R>;
}

export function defineTask<const N extends Needs, E, R>(task: Task<N, E, R>): Task<N, E, R> {
  return task;
}

/** The handler of a task. It reads the environment and opens clients at its first event, not on import. */
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
  // The services are opened from the very needs that type them.
  const services = openServices(task.needs, { environment, settings }) as Services<N>;
  return { ...services, now: () => new Date(), log, settings };
}
