import { Worker } from 'node:worker_threads';
import { ServiceError } from '../core/service-error.ts';

/** The module that defines a task, and the task's name in it. */
export interface TaskAddress {
  module: string;
  name: string;
}

/** Time limit of one task in milliseconds. On Lambda, reading and answering still fit into its 29 seconds. */
const workMilliseconds = 15_000;

/** Most tasks that wait for the thread. */
const maxWaiting = 8;

const retrySeconds = 2;

/** What a thread replies to one input. */
export type TaskReply = { value: unknown } | { error: string };

/** Heap limit of one task in MiB. */
const memoryMiB = 256;

/** Milliseconds after which an idle thread is ended, because it holds about 20 MB. */
const idleMilliseconds = 10_000;

/** A worker thread that runs one task at a time. If a task exceeds its limits, the queue ends the thread. */
export class WorkerQueue {
  readonly #milliseconds: number;
  readonly #waiting: (() => void)[] = [];
  #busy = false;
  #thread: { worker: Worker; address: TaskAddress } | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(milliseconds = workMilliseconds) {
    this.#milliseconds = milliseconds;
  }

  /**
   * Run a task with an input. Input and result must be cloneable.
   *
   * @throws WorkLimitError if the task exceeds its limits; ServiceError `unavailable` if too many tasks wait
   */
  async run(address: TaskAddress, input: unknown): Promise<unknown> {
    if (this.#busy) {
      if (this.#waiting.length >= maxWaiting) {
        throw new ServiceError('unavailable', 'Too many graphs are being drawn. Try again shortly.', {
          retryAfterSeconds: retrySeconds,
        });
      }
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
      const settle = (act: () => void) => {
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
      const timer = setTimeout(() => {
        fail(new WorkLimitError(`took longer than ${this.#milliseconds / 1000} s`));
      }, this.#milliseconds);
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
