import type { Definition, LocalQueue } from './catalogue.ts';
import { Attempt, type AttemptSettings } from './jobs/attempt.ts';
import { admitted, attemptEnded, cancelled, failed, nodeEnded, settled, starting } from './jobs/job-life.ts';
import { hasEnded, isActive, type JobRecord } from './jobs/job-record.ts';
import { renewed } from './jobs/new-job-record.ts';
import { fits, misfitMs, misfitReason } from './placement.ts';

/** Move jobs from state to state: settle dependencies, start jobs that have a slot, and record ended jobs. */
export class Scheduler {
  readonly #settings: AttemptSettings;
  readonly #definitions: (name: string) => Definition | undefined;
  readonly #lanes: Map<string, Lane>;
  readonly #tasks = new Set<Promise<void>>();
  #closed = false;

  /** @param definitions finds a definition by its name */
  constructor(
    queues: readonly LocalQueue[],
    definitions: (name: string) => Definition | undefined,
    settings: AttemptSettings,
  ) {
    this.#settings = settings;
    this.#definitions = definitions;
    const lane = (queue: LocalQueue): Lane => ({
      queue,
      arriving: new Set(),
      waiting: new Set(),
      running: new Map(),
      turns: new Map(),
      misfits: new Map(),
    });
    this.#lanes = new Map(queues.map((queue) => [queue.name, lane(queue)]));
  }

  /** Return why a runnable job waits: no instance can hold it, or no slot is free. */
  reasonToWait(job: JobRecord): string | undefined {
    const lane = this.#lanes.get(job.queue);
    if (lane === undefined) return undefined;
    if (!fits(job, lane.queue)) return misfitReason;
    const { maxJobs } = lane.queue;
    if (lane.running.size < maxJobs) return undefined;
    return `Waiting for a free slot: ${lane.running.size} of ${maxJobs} jobs are running.`;
  }

  /** Schedule a stored job: a new one, or one that waited when the server last stopped. */
  accept(id: string): void {
    const before = this.#settings.store.get(id);
    if (this.#closed || before === undefined || hasEnded(before) || isActive(before)) return;
    const lane = this.#lanes.get(before.queue);
    lane?.arriving.add(id);
    this.#inBackground(async () => {
      const job = await this.#admit(before).finally(() => lane?.arriving.delete(id));
      this.#follow(job);
    });
  }

  /**
   * Apply CancelJob to an existing job, or TerminateJob with `terminate`. Resolve when the request is on the disk.
   */
  async stop(id: string, reason: string, terminate: boolean): Promise<void> {
    const job = await this.#change(id, (present) => cancelled(present, reason, terminate, Date.now()));
    if (isActive(job) && terminate) {
      this.#lanes.get(job.queue)?.running.get(id)?.stop(this.#settings.stopGraceMs);
    } else this.#follow(job);
  }

  /** Start no more jobs, end running ones like a loss of the machine, and wait for their end. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    for (const { running, misfits } of this.#lanes.values()) {
      for (const timer of misfits.values()) clearTimeout(timer);
      for (const attempt of running.values()) attempt.loseHost(stoppedReason, graceMs);
    }
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  async #admit({ id, queue }: JobRecord): Promise<JobRecord> {
    if (this.#lanes.has(queue)) {
      await this.#change(id, admitted);
      return await this.#settle(id);
    }
    const reason = `Job queue ${queue} does not exist any more`;
    return await this.#change(id, (job) => failed(job, reason, Date.now()));
  }

  /** Apply the effects of a job's new state on other jobs. */
  #follow(job: JobRecord): void {
    const lane = this.#lanes.get(job.queue);
    lane?.waiting.delete(job.id);
    if (job.status !== 'RUNNABLE') this.#forgetMisfit(job);
    else if (lane !== undefined && !fits(job, lane.queue)) this.#giveUpLater(job.id, lane);
    // A second call for a job that is just starting does not start it again.
    else if (lane?.running.has(job.id) === false) lane.waiting.add(job.id);
    if (hasEnded(job)) this.#wakeDependents(job.id);
    if (lane !== undefined) this.#fill(lane);
  }

  /** Cancel the job later, like the state time limits of a deployment's queues. */
  #giveUpLater(id: string, { queue, misfits }: Lane): void {
    if (this.#closed || misfits.has(id)) return;
    const giveUp = () => this.#inBackground(() => this.stop(id, misfitReason, false));
    misfits.set(id, setTimeout(giveUp, misfitMs(queue)));
  }

  #forgetMisfit({ id, queue }: JobRecord): void {
    const misfits = this.#lanes.get(queue)?.misfits;
    clearTimeout(misfits?.get(id));
    misfits?.delete(id);
  }

  #wakeDependents(id: string): void {
    for (const { status, dependsOn, id: dependent } of this.#settings.store.all()) {
      if (status !== 'PENDING' || !dependsOn.includes(id)) continue;
      this.#inBackground(async () => this.#follow(await this.#settle(dependent)));
    }
  }

  #settle(id: string): Promise<JobRecord> {
    const { store } = this.#settings;
    return this.#change(id, (job) => settled(job, (other) => store.get(other)?.status, Date.now()));
  }

  #fill(lane: Lane): void {
    while (!this.#closed && lane.running.size < lane.queue.maxJobs) {
      const next = this.#firstOf(lane);
      if (next === undefined) return;
      lane.waiting.delete(next);
      this.#noteTurn(lane, next);
      const attempt = new Attempt(next, { ...this.#settings, lossSeconds: lane.queue.lossSeconds });
      lane.running.set(next, attempt);
      this.#inBackground(async () => {
        try {
          await this.#run(next, attempt);
        } finally {
          lane.running.delete(next);
        }
        const job = this.#settings.store.get(next);
        if (job !== undefined) this.#follow(job);
      });
    }
  }

  /** Record the start of an owner's job. Forget owners without jobs; this makes nobody wait longer. */
  #noteTurn({ turns, waiting, running }: Lane, id: string): void {
    const { store } = this.#settings;
    const ownerOf = (each: string) => store.get(each)?.share ?? '';
    const present = new Set([id, ...waiting, ...running.keys()].map(ownerOf));
    for (const owner of turns.keys()) if (!present.has(owner)) turns.delete(owner);
    turns.set(ownerOf(id), Math.max(0, ...turns.values()) + 1);
  }

  /**
   * Return the next job: one of the owner with the fewest running jobs, and among equals of the owner who has
   * waited longest for a turn. Jobs of one owner run first come, first served; a retried job keeps its place.
   * Return undefined while the job with the next turn still arrives.
   */
  #firstOf({ arriving, waiting, running, turns }: Lane): string | undefined {
    const { store } = this.#settings;
    const ownerOf = ({ share = '' }: JobRecord) => share;
    const runs = new Map<string, number>();
    for (const id of running.keys()) {
      const job = store.get(id);
      if (job !== undefined) runs.set(ownerOf(job), (runs.get(ownerOf(job)) ?? 0) + 1);
    }
    const ranks = (job: JobRecord) => [
      runs.get(ownerOf(job)) ?? 0,
      turns.get(ownerOf(job)) ?? 0,
      job.sequence,
    ];
    const comesBefore = (one: JobRecord, other: JobRecord): boolean => {
      const others = ranks(other);
      const [at, rank] = [...ranks(one).entries()].find(([index, each]) => each !== others[index]) ?? [];
      return at !== undefined && rank !== undefined && rank < (others[at] ?? 0);
    };
    const jobs = [...arriving, ...waiting].flatMap((id) => store.get(id) ?? []);
    const first = jobs.reduce<JobRecord | undefined>(
      (earliest, job) => (earliest === undefined || comesBefore(job, earliest) ? job : earliest),
      undefined,
    );
    return first !== undefined && waiting.has(first.id) ? first.id : undefined;
  }

  async #run(id: string, attempt: Attempt): Promise<void> {
    const job = await this.#change(id, (present) => this.#begun(present));
    if (job.status !== 'STARTING') return; // cancelled in the meantime, or without a definition
    const exit = await attempt.run(job);
    const now = Date.now();
    await this.#change(id, (present) => attemptEnded(nodeEnded(present, 0, exit, now), now));
  }

  /** Begin an attempt with the current definition. */
  #begun(job: JobRecord): JobRecord {
    const definition = this.#definitions(job.definition);
    if (definition !== undefined) return starting(renewed(job, definition));
    return job.status === 'RUNNABLE'
      ? failed(job, `Job definition ${job.definition} does not exist any more`, Date.now())
      : job;
  }

  #change(id: string, step: (job: JobRecord) => JobRecord): Promise<JobRecord> {
    return this.#settings.store.change(id, step);
  }

  /** Run work in the background. Nothing awaits it, so report its errors here. */
  #inBackground(work: () => Promise<void>): void {
    const task = work().catch((error: unknown) => {
      console.error(`Batch: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
    });
    this.#tasks.add(task);
    void task.then(() => this.#tasks.delete(task));
  }
}

/** Jobs of a queue. */
interface Lane {
  queue: LocalQueue;
  /** Accepted jobs whose admission is not written yet, so they are not in `waiting`. */
  arriving: Set<string>;
  waiting: Set<string>;
  running: Map<string, Attempt>;
  /** The last start of each owner, as a count of starts. */
  turns: Map<string, number>;
  /** Timers that give up jobs that fit no instance. */
  misfits: Map<string, NodeJS.Timeout>;
}

const stoppedReason = 'Host EC2 (local) terminated: the local Batch server was stopped.';
