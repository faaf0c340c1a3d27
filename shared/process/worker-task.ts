import { parentPort, Worker, workerData } from 'node:worker_threads';
import { errorStack } from '../core/error-text.ts';
import { ServiceError } from '../core/service-error.ts';

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

/** Limit of the processor time of one task in milliseconds. */
const workMilliseconds = 15_000;

/** Limit of its time on a busy machine. On Lambda, reading and answering still fit into its 29 seconds. */
const waitMilliseconds = 22_000;

/** Most tasks that wait for the thread. */
const maxWaiting = 8;

const retrySeconds = 2;

/** Heap limit of one task in MiB. */
const memoryMiB = 256;

/** Milliseconds after which an idle thread is ended, because it holds about 20 MB. */
const idleMilliseconds = 10_000;

/** The module that defines a task, and the task's name in it. */
interface TaskAddress {
  module: string;
  name: string;
}

/** What a thread replies to one input. */
type TaskReply = { value: unknown } | { error: string };

/** A worker thread that runs one task at a time. If a task exceeds its limits, the queue ends the thread. */
export class WorkerQueue {
  readonly #milliseconds: number;
  readonly #patience: number;
  readonly #waiting: (() => void)[] = [];
  #busy = false;
  #thread: { worker: Worker; address: TaskAddress } | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(milliseconds = workMilliseconds, patience = waitMilliseconds) {
    this.#milliseconds = milliseconds;
    this.#patience = patience;
  }

  /**
   * Run a task with an input. Input and result must be cloneable.
   *
   * @throws WorkLimitError if the task exceeds its limits; ServiceError `unavailable` if too many tasks wait, or if the
   * machine is too busy to say whether it does
   */
  async run(address: TaskAddress, input: unknown): Promise<unknown> {
    if (this.#busy) {
      if (this.#waiting.length >= maxWaiting) throw busyError('Too many graphs are being drawn.');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#busy = true;
    try {
      return await this.#work(this.#threadOf(address), input);
    } finally {
      const next = this.#waiting.shift();
      // Hand the turn directly to the next caller, so no later caller can take it.
      if (next === undefined) this.#rest();
      else next();
    }
  }

  #threadOf(address: TaskAddress): Worker {
    clearTimeout(this.#idle);
    const present = this.#thread;
    if (present?.address.module === address.module && present.address.name === address.name)
      return present.worker;
    this.#end();
    const worker = startThread(address);
    this.#thread = { worker, address };
    return worker;
  }

  #work(worker: Worker, input: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const began = performance.now();
      const usedBefore = processorMilliseconds(worker);
      let isSettled = false;
      const settle = (act: () => void) => {
        isSettled = true;
        clearTimeout(timer);
        for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event);
        // Ignore an error after the end of the task: no caller waits for it.
        worker.on('error', () => {});
        worker.unref();
        act();
      };
      const fail = (error: Error) =>
        settle(() => {
          this.#end();
          reject(error);
        });
      const look = async (): Promise<void> => {
        const used = (await processorMilliseconds(worker)) - (await usedBefore);
        if (isSettled) return;
        const left = Math.min(this.#milliseconds - used, this.#patience - (performance.now() - began));
        if (used >= this.#milliseconds)
          fail(new WorkLimitError(`took longer than ${this.#milliseconds / 1000} s`));
        else if (left <= 0) fail(busyError('The service is too busy to draw this now.'));
        else timer = setTimeout(look, left + 1);
      };
      let timer = setTimeout(look, Math.min(this.#milliseconds, this.#patience));
      worker.ref();
      worker.once('message', (reply: TaskReply) =>
        settle(() => ('value' in reply ? resolve(reply.value) : reject(new Error(reply.error)))),
      );
      worker.once('error', (error) =>
        fail(isOutOfMemory(error) ? new WorkLimitError(`took more than ${memoryMiB} MiB`) : error),
      );
      worker.once('exit', () => fail(new Error('the worker thread ended')));
      worker.postMessage(input);
    });
  }

  #rest(): void {
    this.#busy = false;
    this.#idle = setTimeout(() => this.#end(), idleMilliseconds).unref();
  }

  #end(): void {
    void this.#thread?.worker.terminate();
    this.#thread = undefined;
  }
}

/** Return the processor time of a thread; 0 before it has begun and after it has ended. */
const processorMilliseconds = (worker: Worker): Promise<number> =>
  worker.cpuUsage().then(
    ({ user, system }) => (user + system) / 1000,
    () => 0,
  );

const busyError = (why: string): ServiceError =>
  new ServiceError('unavailable', `${why} Try again shortly.`, { retryAfterSeconds: retrySeconds });

function startThread({ module, name }: TaskAddress): Worker {
  const worker = new Worker(new URL(module), {
    workerData: { task: name },
    // The task only computes. It inherits neither credentials nor the flags of this process.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB },
  });
  worker.unref();
  return worker;
}

/** A task exceeded its time or memory limit. */
export class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError';
}

const isOutOfMemory = (error: Error): boolean => 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

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

/** An in-memory LRU cache with a limit in bytes. */
export class BoundedCache<V> {
  readonly #most: number;
  readonly #entries = new Map<string, { value: V; bytes: number }>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Store a value. Ignores a value larger than a quarter of the limit. */
  put(key: string, value: V, bytes: number): void {
    this.#remove(key);
    if (bytes > this.#most / 4) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#most) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
