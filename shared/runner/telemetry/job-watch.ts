import { findLease } from '../../data/jobs/lease.ts';
import type { TableReader } from '../../data/table/table.ts';

/** Tells whether a client reads the log or metrics of a job's node. Each read leaves a mark on the lease. */
export class JobWatch {
  readonly #records: TableReader<'records'>;
  readonly #job_id: string;
  readonly #node: number;
  readonly #now: () => Date;
  #watchedUntil = 0;

  constructor(records: TableReader<'records'>, job_id: string, node: number, now: () => Date) {
    this.#records = records;
    this.#job_id = job_id;
    this.#node = node;
    this.#now = now;
  }

  /** Read the mark, unless the last one is still valid. Return false if the table does not answer. */
  async isWatched(): Promise<boolean> {
    const now = this.#now().getTime();
    if (this.#watchedUntil > now) return true;
    try {
      const lease = await findLease(this.#records, this.#job_id, this.#node);
      this.#watchedUntil = lease?.watched_until ?? 0;
    } catch {
      return false;
    }
    return this.#watchedUntil > now;
  }
}
