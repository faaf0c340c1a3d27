import { errorName } from '../../core/error-text.ts';
import { type Progress, putProgress } from '../../data/jobs/lease.ts';
import { jobIdOf } from '../../jobs/job-record.ts';
import type { HeldJob } from './hold-job.ts';
import { retryFor, shortPatience } from './retry-for.ts';

/**
 * How far a job has got, in the lease of node 0. A job whose hosts are lost is repeated as long as it gets on, and only
 * the time that it kept counts against its timeout.
 */
export class JobProgress {
  readonly #job: HeldJob;
  /** Seconds of the command that earlier attempts have kept. */
  readonly keptBefore: number;
  #present: Progress;

  constructor(job: HeldJob) {
    this.#job = job;
    this.#present = job.lease.progress ?? { attempt: 0, kept_seconds: 0 };
    this.keptBefore = this.#present.kept_seconds;
  }

  /**
   * Note a metric at a later step than any before. The first of an attempt is written. Never throws.
   * @returns whether this attempt is noted
   */
  async noteStep(): Promise<boolean> {
    const isNoted = this.#present.attempt >= this.#job.lease.batch_attempt;
    return isNoted || this.#write(this.#present.kept_seconds);
  }

  /** Note a stored checkpoint. Never throws. @param seconds for which the command has run */
  async noteCheckpoint(seconds: number): Promise<void> {
    await this.#write(this.keptBefore + seconds);
  }

  async #write(kept_seconds: number): Promise<boolean> {
    const { record, node, lease, records, log } = this.#job;
    const { attempt } = this.#present;
    this.#present = { attempt: lease.batch_attempt, kept_seconds };
    try {
      const write = putProgress(jobIdOf(record), node, lease, this.#present);
      await retryFor(shortPatience, () => records.write(write));
      return true;
    } catch (error) {
      // The next note makes up for it. If the lease is lost, the heartbeat stops the job.
      log.warn('progress', { error: errorName(error) });
      this.#present = { ...this.#present, attempt };
      return false;
    }
  }
}
