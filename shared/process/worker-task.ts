import { parentPort, workerData } from 'node:worker_threads';
import { errorStack } from '../core/error-text.ts';
import { ServiceError } from '../core/service-error.ts';
import { BoundedCache } from './bounded-cache.ts';
import { type TaskReply, WorkerQueue, WorkLimitError } from './worker-queue.ts';

interface TaskOptions<I, O> {
  /** `import.meta.url` of the module that defines the task. The thread imports it. */
  module: string;
  name: string;
  run(input: I): O | Promise<O>;
  /** Cache key: equal for inputs with the same result. */
  keyOf(input: I): string;
  /** Size of a result in bytes, for the cache. */
  sizeOf(output: O): number;
  /** Detail of the `too-large` error when a task exceeds the limits. Tells the caller an alternative. */
  tooHeavy: string;
}

/** Bytes of cached results per task and process. */
const cacheBytes = 16_000_000;

const queue = new WorkerQueue();

/**
 * Define a task that would block every other request on the event loop. It runs on a worker thread with a
 * deadline, and its results are cached in memory. The returned function throws a ServiceError: `too-large` if a
 * task exceeds its limits, `unavailable` if too many tasks wait.
 */
export function workerTask<I, O>(options: TaskOptions<I, O>): (input: I) => Promise<O> {
  const { module, name, keyOf, sizeOf, tooHeavy } = options;
  if (isThreadOf(name)) serve(options);
  const results = new BoundedCache<O | WorkLimitError>(cacheBytes);
  const running = new Map<string, Promise<O | WorkLimitError>>();

  async function work(key: string, input: I): Promise<O | WorkLimitError> {
    try {
      // The cast holds: the thread runs `run` of this definition.
      const output = (await queue.run({ module, name }, input)) as O;
      results.put(key, output, sizeOf(output));
      return output;
    } catch (error) {
      if (!(error instanceof WorkLimitError)) throw error;
      results.put(key, error, 1000);
      return error;
    } finally {
      running.delete(key);
    }
  }

  return async (input) => {
    const key = keyOf(input);
    let result = results.get(key);
    if (result === undefined) {
      const started = running.get(key) ?? work(key, input);
      running.set(key, started);
      result = await started;
    }
    if (result instanceof WorkLimitError) throw new ServiceError('too-large', tooHeavy, { cause: result });
    return result;
  };
}

const isThreadOf = (name: string): boolean =>
  typeof workerData === 'object' && workerData !== null && 'task' in workerData && workerData.task === name;

function serve<I, O>({ run }: TaskOptions<I, O>): void {
  const reply = (value: TaskReply) => parentPort?.postMessage(value);
  parentPort?.on('message', async (input: I) => {
    try {
      reply({ value: await run(input) });
    } catch (error) {
      reply({ error: errorStack(error) });
    }
  });
}
