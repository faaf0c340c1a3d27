import { ServiceError } from '../core/service-error.ts';

/** Hashes at once. Each occupies one of the four threads on which node also reads files and decodes pictures. */
const atOnce = 2;
/** Sign-ins at once: fewer than the gateway works on, so that they never hold up everything else. */
const maxAdmitted = 16;
const retrySeconds = 2;

/** For functions that hash: at 1,024 MiB a hash takes about a tenth of a second of a processor's share. */
export const hashingRuntime = { memory: 1024 } as const;

/** Bounds how much of a process password hashing takes, however many people sign in at one moment. */
export class HashingQueue {
  readonly #atOnce: number;
  readonly #maxAdmitted: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #admitted = 0;

  constructor(limits: { atOnce: number; maxAdmitted: number }) {
    this.#atOnce = limits.atOnce;
    this.#maxAdmitted = limits.maxAdmitted;
  }

  /**
   * Does work that anybody may ask for and that will hash. Throws 503 before it has begun, so that nothing is counted
   * against the caller, where too many others do such work.
   */
  async admit<T>(work: () => Promise<T>): Promise<T> {
    if (this.#admitted >= this.#maxAdmitted) {
      throw new ServiceError('unavailable', 'Too many people sign in at this moment. Try again shortly.', {
        retryAfterSeconds: retrySeconds,
      });
    }
    this.#admitted += 1;
    try {
      return await work();
    } finally {
      this.#admitted -= 1;
    }
  }

  /** Computes a hash when it is its turn: first come, first served. */
  async run<T>(hash: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await hash();
    } finally {
      const next = this.#waiting.shift();
      // The slot passes to the next in the queue, so that no later caller takes it.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

/** The one queue of this process. */
export const hashing = new HashingQueue({ atOnce, maxAdmitted });
