import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../../data/models/compression.ts';
import { type HeldJob, noteProgress } from '../job/hold-job.ts';

/** Milliseconds between two notes. Each note is a write of the record. */
const pauseMs = 1000;

/**
 * Writes the progress of a job to its record: the first note at once, later ones after a pause, and always the latest.
 */
export class ProgressNotes {
  readonly #job: HeldJob;
  #latest: Progress | undefined;
  #writing: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(job: HeldJob) {
    this.#job = job;
  }

  /** Note the progress. Never throws: the next note replaces a lost one. */
  note(stage: string, fraction: number): void {
    if (this.#closing.signal.aborted) return;
    const part = Number.isFinite(fraction) ? Math.min(1, Math.max(0, fraction)) : 0;
    this.#latest = { stage, fraction: Math.round(part * 1000) / 1000 };
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Wait for the pending note. No further note follows. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#latest !== undefined && !signal.aborted) {
      const progress = this.#latest;
      this.#latest = undefined;
      await noteProgress(this.#job, { progress, status_reason: null }).catch(() => undefined);
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
