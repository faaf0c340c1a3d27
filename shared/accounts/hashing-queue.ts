import { ServiceError } from '../core/service-error.ts';

/**
 * Number of concurrent hashes. Each occupies one of Node's four threads, which also read files and decode
 * pictures.
 */
const atOnce = 2;
/**
 * Maximum number of concurrent sign-ins. It is below the gateway's limit, so sign-ins never block all other
 * requests.
 */
const maxAdmitted = 16;
const retrySeconds = 2;

/** Runtime of functions that hash passwords. At 1,024 MiB, a hash takes about a tenth of a second. */
export const hashingRuntime = { memory: 1024 } as const;

/** Bounds the share of a process that password hashing takes, for any number of concurrent sign-ins. */
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
   * Do public work that hashes. If too many callers do such work, throw 503 before it begins, so nothing is
   * counted against the caller.
   */
  async admit<T>(work: () => Promise<T>): Promise<T> {
    if (this.#admitted >= this.#maxAdmitted) {
      throw new ServiceError('unavailable', 'Too many users are signing in. Try again shortly.', {
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

  /** Compute a hash, first come, first served. */
  async run<T>(hash: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await hash();
    } finally {
      const next = this.#waiting.shift();
      // The slot passes to the next in the queue, so no later caller takes it.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

/** The one queue of this process. */
export const hashing = new HashingQueue({ atOnce, maxAdmitted });
