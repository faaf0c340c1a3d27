import { watchedUntil } from '../../data/jobs/lease.ts';
import type { TableReader } from '../../data/table/table.ts';
import { shippingPace, stretched } from './shipping-pace.ts';

/**
 * Tells whether a client reads the log or metrics of a job's node. Each read leaves a mark on the lease. All that ships rows
 * of the node asks the same one, because each look at the mark is a read of the table.
 */
export class JobWatch {
  readonly #records: TableReader<'records'>;
  readonly #job_id: string;
  readonly #node: number;
  readonly #now: () => Date;
  readonly #begun = performance.now();
  /** Of the monotonic clock. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #watchedUntil = 0;

  constructor(records: TableReader<'records'>, job_id: string, node: number, now: () => Date) {
    this.#records = records;
    this.#job_id = job_id;
    this.#node = node;
    this.#now = now;
  }

  /** Read the mark, unless the last one is still valid or young. Return false if the table does not answer. */
  async isWatched(): Promise<boolean> {
    const now = this.#now().getTime();
    if (this.#watchedUntil > now) return true;
    const time = performance.now();
    if (time - this.#askedAt < questionPause(time - this.#begun)) return false;
    this.#askedAt = time;
    try {
      this.#watchedUntil = await watchedUntil(this.#records, this.#job_id, this.#node);
    } catch {
      return false;
    }
    return this.#watchedUntil > now;
  }
}

/** Return the milliseconds for which an answer holds. The pause grows slowly, because a reader waits for it. */
export const questionPause = (age: number): number =>
  stretched(shippingPace.question - slack, age / questionGrowth);

/** Those who ask every second are a little early or late. */
const slack = 100;

/** After ten minutes it is six times as long. */
const questionGrowth = 25;
