import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchJobStateChangeEvent } from './job-record.ts';

/**
 * Deliver events until each delivery has succeeded once. First attempts of one job's events run in sequence. A
 * failed event is retried in parallel with later ones, so it delays none.
 */
export class Outbox {
  readonly #deliver: (event: BatchJobStateChangeEvent) => Promise<void>;
  readonly #onDelivered: (event: BatchJobStateChangeEvent) => void;
  /** The last pending first attempt of each job. */
  readonly #lines = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(
    deliver: (event: BatchJobStateChangeEvent) => Promise<void>,
    onDelivered: (event: BatchJobStateChangeEvent) => void,
  ) {
    this.#deliver = deliver;
    this.#onDelivered = onDelivered;
  }

  /** Accept an event for delivery; never throw. */
  post(event: BatchJobStateChangeEvent): void {
    const job = event.detail.jobId ?? '';
    const line = (this.#lines.get(job) ?? Promise.resolve()).then(async () => {
      if (!(await this.#attempt(event))) void this.#insist(event);
    });
    this.#lines.set(job, line);
    void line.then(() => {
      if (this.#lines.get(job) === line) this.#lines.delete(job);
    });
  }

  /** Wait up to `patienceMs` for pending first attempts, then deliver nothing more. */
  async close(patienceMs: number): Promise<void> {
    const patience = new AbortController();
    await Promise.race([
      Promise.all(this.#lines.values()),
      sleep(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined),
    ]);
    patience.abort();
    this.#closing.abort();
  }

  async #insist(event: BatchJobStateChangeEvent): Promise<void> {
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
      const waited = await sleep(pause, true, { signal: this.#closing.signal, ref: false }).catch(
        () => false,
      );
      if (!waited || (await this.#attempt(event))) return;
    }
  }

  async #attempt(event: BatchJobStateChangeEvent): Promise<boolean> {
    if (this.#closing.signal.aborted) return true;
    const limit = new AbortController();
    const tooLong = sleep(deliveryLimitMs, false, { signal: limit.signal, ref: false }).catch(() => false);
    // The wrapper also catches an error that `deliver` throws before it returns its promise.
    const delivery = (async () => await this.#deliver(event))().then(
      () => true,
      () => false,
    );
    const delivered = await Promise.race([delivery, tooLong]);
    limit.abort();
    if (delivered) this.#onDelivered(event);
    return delivered;
  }
}

const firstPauseMs = 250;

const longestPauseMs = 30_000;

/** A delivery that takes longer counts as failed. */
const deliveryLimitMs = 60_000;
