import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryParseJson } from '../../../../shared/core/text/try-parse-json.ts';
import { unfinishedSuffix, writeDurably } from '../durable-file.ts';
import { type BatchJobStateChangeEvent, hasEnded, JobRecord } from './job-record.ts';

/**
 * The jobs, each in its own file, and all in memory too. A change is on the disk before anyone can see it. Its
 * event is in the same file, so neither can be lost without the other.
 */
export class JobStore {
  readonly #folder: string;
  readonly #jobs = new Map<string, JobRecord>();
  /** The last pending write of each job. */
  readonly #writes = new Map<string, Promise<unknown>>();
  #lastSequence = 0;
  #insists = true;
  readonly #eventOf: (job: JobRecord) => BatchJobStateChangeEvent;
  readonly #onEvent: (event: BatchJobStateChangeEvent) => void;

  /** @param onEvent receives every event after its change is on the disk */
  constructor(
    folder: string,
    eventOf: (job: JobRecord) => BatchJobStateChangeEvent,
    onEvent: (event: BatchJobStateChangeEvent) => void,
  ) {
    this.#folder = folder;
    this.#eventOf = eventOf;
    this.#onEvent = onEvent;
  }

  /** Read all jobs. Rename an invalid file to `*.unreadable`, and report it. */
  async load(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const loaded: JobRecord[] = [];
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      if (name.endsWith(unfinishedSuffix)) await rm(path, { force: true });
      if (!name.endsWith(extension)) continue;
      const job = JobRecord.safeParse(tryParseJson(await readFile(path, 'utf8'))).data;
      if (job !== undefined) loaded.push(job);
      else {
        console.error(`Batch: ${path} does not contain a job and was renamed.`);
        await rename(path, `${path}.unreadable`);
      }
    }
    loaded.sort((a, b) => a.sequence - b.sequence);
    for (const job of loaded) this.#jobs.set(job.id, job);
    this.#lastSequence = loaded.at(-1)?.sequence ?? 0;
  }

  get(id: string): JobRecord | undefined {
    return this.#jobs.get(id);
  }

  /** Return all jobs in the order of their submission. */
  all(): IterableIterator<JobRecord> {
    return this.#jobs.values();
  }

  nextSequence(): number {
    this.#lastSequence += 1;
    return this.#lastSequence;
  }

  /** @throws errors of the file system; then the job does not exist */
  async add(job: JobRecord): Promise<void> {
    await this.#write(job);
    this.#jobs.set(job.id, job);
  }

  /**
   * Apply a step to the job after its earlier changes are done. If the disk refuses the write, retry it forever,
   * because a state change of a running job cannot be refused.
   * @returns the job after the step
   */
  change(id: string, step: (job: JobRecord) => JobRecord): Promise<JobRecord> {
    return this.#inTurn(id, async () => {
      const before = this.#jobs.get(id);
      if (before === undefined) throw new Error(`There is no job ${id}`);
      const stepped = step(before);
      if (stepped === before) return before;
      const event = stepped.status === before.status ? undefined : this.#eventOf(stepped);
      await this.#save(stepped, event);
      // Events may have been delivered during the write.
      const events = [...(this.#jobs.get(id)?.events ?? []), ...(event === undefined ? [] : [event])];
      const after = { ...stepped, events };
      this.#jobs.set(id, after);
      if (event !== undefined) this.#onEvent(event);
      return after;
    });
  }

  /** Remove a delivered event. The file is updated with the next change, or at once if the job has ended. */
  acknowledge(event: BatchJobStateChangeEvent): void {
    const id = event.detail.jobId ?? '';
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    const events = job.events.filter((each) => each.id !== event.id);
    this.#jobs.set(id, { ...job, events });
    if (!hasEnded(job) || events.length > 0) return;
    const write = this.#inTurn(id, async () => {
      const present = this.#jobs.get(id);
      if (present !== undefined) await this.#write(present);
    });
    // If the file still has the event, the event is only delivered twice.
    write.catch(() => undefined);
  }

  async remove(id: string): Promise<void> {
    await this.#inTurn(id, async () => {
      await rm(join(this.#folder, id + extension), { force: true });
      this.#jobs.delete(id);
    });
  }

  /** From now on, do not retry a write that the disk refuses. The server needs this to stop. */
  stopInsisting(): void {
    this.#insists = false;
  }

  /** Wait for pending writes. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#writes.values());
  }

  async #save(job: JobRecord, event: BatchJobStateChangeEvent | undefined): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      try {
        const events = [...(this.#jobs.get(job.id)?.events ?? []), ...(event === undefined ? [] : [event])];
        return await this.#write({ ...job, events });
      } catch (error) {
        if (failures === 0) console.error(`Batch: the state of job ${job.id} cannot be written: ${error}`);
        if (!this.#insists) throw error;
        await sleep(writeAgainAfterMs, undefined, { ref: false });
      }
    }
  }

  #write(job: JobRecord): Promise<void> {
    return writeDurably(join(this.#folder, job.id + extension), JSON.stringify(job));
  }

  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#writes.get(id) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#writes.set(id, mine);
    const done = () => {
      if (this.#writes.get(id) === mine) this.#writes.delete(id);
    };
    mine.then(done, done);
    return mine;
  }
}

const extension = '.json';

const writeAgainAfterMs = 1_000;
