import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FunctionRuntime } from '../../shared/core/function-runtime.ts';
import type { Needs } from '../../shared/core/needs.ts';
import type { WatchedList } from '../../shared/data/lists/watched-list.ts';

/**
 * Load every task below `folder` that has its own function or program: it is not part of another task, or is called. Files named
 * `*.event.ts` export it as `event`, files named `*.job.ts` as `job`.
 */
export async function loadTasks(folder: string, kind: 'event' | 'job'): Promise<LoadedTask[]> {
  const files = (await Array.fromAsync(glob(`**/*.${kind}.ts`, { cwd: folder }))).sort();
  const tasks = await Promise.all(
    files.map(async (file) => {
      const module: Record<string, unknown> = await import(pathToFileURL(join(folder, file)).href);
      const task = module[kind];
      if (!isTask(task)) throw new Error(`${file} must export ${kind}`);
      const { name, needs, watches = [], runtime = {}, includes = [] } = task;
      const { isCalled = false, isTimed = false } = task;
      return { loaded: { file, name, needs, watches, runtime, isCalled, isTimed }, includes };
    }),
  );
  const included = new Set(tasks.flatMap(({ includes }) => includes.map(({ name }) => name)));
  return tasks.flatMap(({ loaded }) => {
    if (!included.has(loaded.name)) return [loaded];
    // The task that includes it watches its lists.
    return loaded.isCalled || loaded.isTimed ? [{ ...loaded, watches: [] }] : [];
  });
}

/** The parts of a function or job program that the deployment reads. */
export interface LoadedTask {
  /** File, relative to the folder it was loaded from. */
  file: string;
  name: string;
  needs: Needs;
  watches: readonly WatchedList[];
  runtime: FunctionRuntime;
  /** Whether functions call it by its name. */
  isCalled: boolean;
  /** Whether timers of EventBridge Scheduler start it. */
  isTimed: boolean;
}

function isTask(value: unknown): value is TaskFacts {
  return typeof value === 'object' && value !== null && 'name' in value && 'needs' in value && 'run' in value;
}

type TaskFacts = Pick<LoadedTask, 'name' | 'needs'> &
  Partial<Pick<LoadedTask, 'watches' | 'runtime' | 'isCalled' | 'isTimed'>> & {
    includes?: readonly { name: string }[];
  };
