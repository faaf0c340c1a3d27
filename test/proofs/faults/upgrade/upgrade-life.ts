import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { event as jobStateChanged } from '../../../../functions/events/job-state-changed.event.ts';
import { isFinal } from '../../../../shared/data/jobs/job-status.ts';
import { findLease } from '../../../../shared/data/jobs/lease.ts';
import { taskHandler } from '../../../../shared/http/definition/task.ts';
import { type JobRecord, jobIdOf } from '../../../../shared/jobs/job-record.ts';
import type { TracedCall } from '../injection/middleware.ts';
import { writePlan } from '../injection/plan.ts';
import type { Course } from '../kill/course.ts';
import { judgeLife } from '../kill/judge-life.ts';
import { definitions, type Lane, prepareContainers } from '../kill/lane.ts';
import { prepareCourse } from '../kill/prepare-course.ts';
import type { Mark } from '../kill/strikes.ts';
import { ask } from '../world/ask.ts';
import { endpoints } from '../world/endpoints.ts';
import { pass } from '../world/pass.ts';
import { type Program, startProgram } from '../world/process.ts';
import { newDeveloper, newService, removeService, type Service } from '../world/service.ts';
import { isStopped } from '../world/stopped.ts';
import { witnessFolder } from '../world/witness-folder.ts';
import { withoutNewFields } from './former-format.ts';

/** A Batch whose containers run one version's program or the other's. */
export interface UpgradeLane extends Lane {
  former: Program;
  present: Program;
  /** Whether both are of the present version, so that the format of the former one is made. */
  isOneVersion: boolean;
  /** What an attempt runs that starts from now on. */
  use(program: Program): Promise<void>;
}

/**
 * What becomes of the container that the former version started: it goes on; its host is lost, and the next attempt runs
 * the present version's program, or its own as on AWS; it was taken for dead, and goes on while the next one runs; its job is
 * cancelled.
 */
export const courses = ['goes on', 'lost', 'again', 'late', 'cancelled'] as const;

export interface UpgradeLifeAsked {
  /** Where the container stands still during the upgrade; nowhere unless given. */
  mark?: Omit<Mark, 'role'>;
  course: (typeof courses)[number];
}

export interface UpgradeLife {
  isHit: boolean;
  faults: string[];
  calls: TracedCall[];
  /** Events that came late or again, when all was over. */
  repeated: number;
}

/** A job that the former version records and starts, and that ends under the present one. */
export async function liveUpgrade(lane: UpgradeLane, asked: UpgradeLifeAsked): Promise<UpgradeLife> {
  const { folder, witness, trace } = await witnessFolder(join(lane.folder, 'upgrade-'));
  const service = await newService(lane.engines, lane.batchUrl);
  service.environment['TRAIN_DEFINITION'] = definitions.again;
  service.settings.train.definition = definitions.again;
  try {
    const { token, user } = await newDeveloper(service);
    const { user_id } = user;
    // The former version did not know variables.
    const given = { service, token, user_id, folder, witness, isWithoutVariables: !lane.isOneVersion };
    const course = await prepareCourse('train', {
      ...given,
      scenario: asked.course === 'cancelled' ? 'cancelled' : 'again',
    });
    const life = new Life(lane, service, course, asked, trace);
    const record = await life.run();
    const inventory = await service.inventory();
    const isStruck = life.isHit && asked.course !== 'goes on';
    const faults = judgeLife({
      inventory,
      record,
      lacking: record === undefined ? [] : course.lacking(inventory, record),
      kind: 'train',
      scenario: life.isCancelled ? 'cancelled' : 'again',
      strike: isStruck ? { scenario: 'again', role: 'container', at: 0, when: 'after' } : undefined,
      isAcknowledged: true,
      isCancelled: life.isCancelled,
      runs: (await readFile(witness, 'utf8')).split('\n').length - 1,
    });
    if (record !== undefined) faults.push(...((await course.lost?.(record)) ?? []));
    const lines = (await readFile(trace, 'utf8')).split('\n').filter((line) => line !== '');
    const calls = lines.map((line) => JSON.parse(line));
    return { isHit: life.isHit, faults: [...life.faults, ...faults], calls, repeated: life.repeated };
  } finally {
    lane.setDeliver(async () => undefined);
    await removeService(service);
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

class Life {
  readonly faults: string[] = [];
  isCancelled = false;
  repeated = 0;
  readonly #lane: UpgradeLane;
  readonly #service: Service;
  readonly #course: Course;
  readonly #asked: UpgradeLifeAsked;
  readonly #trace: string;
  readonly #note: string;
  readonly #events: unknown[] = [];

  constructor(lane: UpgradeLane, service: Service, course: Course, asked: UpgradeLifeAsked, trace: string) {
    this.#lane = lane;
    this.#service = service;
    this.#course = course;
    this.#asked = asked;
    this.#trace = trace;
    this.#note = `${trace}.killed`;
  }

  get isHit(): boolean {
    return existsSync(this.#note);
  }

  async run(): Promise<JobRecord | undefined> {
    const { former, present } = this.#lane;
    const { mark, course } = this.#asked;
    const kill = mark && { ...mark, signal: 'SIGSTOP' as const, note: this.#note, role: 'container' };
    const plan = { role: 'container', trace: this.#trace, hurry: 100, ...(kill && { kill }) };
    prepareContainers(this.#lane, this.#service, { ...this.#course.hostEnvironment, ...writePlan(plan) });
    await this.#lane.use(former);
    this.#lane.setDeliver((event) => this.#former('event', event));
    await this.#former('create', this.#course.create);
    const pid = await this.#standStill();
    // The service is stopped: what happens meanwhile is told to its next version.
    const started = Promise.withResolvers<void>();
    this.#lane.setDeliver(async (event) => {
      await started.promise;
      await this.#tell(event);
    });
    const begun = await this.#record();
    if (pid !== undefined && begun !== undefined && this.#lane.isOneVersion)
      await withoutNewFields(this.#service.records, begun);
    await this.#lane.use(course === 'again' ? former : present);
    if (pid !== undefined) {
      if (course === 'lost' || course === 'again') process.kill(pid, 'SIGKILL');
      // The first thing that the new version does.
      await pass(this.#service, 120);
      // Of an attempt that it took for dead, Batch does not tell the end as that of the job.
      if (course !== 'late') started.resolve();
      if (course === 'cancelled' && begun !== undefined) await this.#cancel(begun);
      const next = course === 'late' && begun !== undefined ? await this.#next(begun, pid) : undefined;
      if (course !== 'lost' && course !== 'again') process.kill(pid, 'SIGCONT');
      await next?.over;
    }
    started.resolve();
    await this.#quiet();
    for (const seconds of [240, 480]) await pass(this.#service, seconds);
    const ended = await this.#record();
    await this.#repeat();
    const repeated = await this.#record();
    if (JSON.stringify(ended) !== JSON.stringify(repeated))
      this.faults.push('an event that came again has changed the job');
    return repeated;
  }

  /** Has a process of the former version act. */
  async #former(role: string, given: unknown): Promise<void> {
    if (role === 'event') this.#events.push(given);
    const plan = { role, trace: this.#trace };
    const { ended } = startProgram(this.#lane.former, role, given, this.#service.environment, plan);
    const { code, errors } = await ended;
    if (code !== 0) this.faults.push(`${role} of the former version ended with ${code}: ${errors}`);
  }

  async #tell(event: unknown): Promise<void> {
    this.#events.push(event);
    await taskHandler(jobStateChanged, this.#service.environment)(event);
  }

  /** Tells everything again when all is over, the last first. */
  async #repeat(): Promise<void> {
    for (const event of this.#events.toReversed()) {
      await taskHandler(jobStateChanged, this.#service.environment)(event);
      this.repeated += 1;
    }
  }

  /** The process of the container, once it stands still; undefined when its job has ended, or with a fault if neither comes. */
  async #standStill(): Promise<number | undefined> {
    if (this.#asked.mark === undefined) return undefined;
    const until = performance.now() + patienceMs;
    while (performance.now() < until) {
      const pid = this.isHit ? await this.#pidOfContainer() : undefined;
      if (pid !== undefined && (await isStopped(pid))) return pid;
      const record = await this.#record();
      if (record !== undefined && isFinal(record.status) && !this.isHit) return undefined;
      await sleep(10);
    }
    this.faults.push('stale: no container stands still at the mark');
    return undefined;
  }

  async #pidOfContainer(): Promise<number | undefined> {
    const lines = (await readFile(this.#trace, 'utf8')).split('\n').filter((line) => line !== '');
    const calls = lines.map((line): TracedCall => JSON.parse(line));
    return calls.findLast(({ role }) => role === 'container')?.pid;
  }

  /** Starts the next attempt though the first one lives. @returns its end, as soon as it has the lease */
  async #next(record: JobRecord, pid: number): Promise<{ over: Promise<void> }> {
    const text = await readFile(`/proc/${pid}/environ`, 'utf8');
    const variables = Object.fromEntries(
      text.split('\0').flatMap((line) => {
        const at = line.indexOf('=');
        return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
      }),
    );
    const { AWS_BATCH_JOB_ID = '' } = variables;
    const environment = {
      ...variables,
      // Each names its own processes by this; on AWS each has a host of its own.
      AWS_BATCH_JOB_ID: `${AWS_BATCH_JOB_ID}#0`,
      AWS_BATCH_JOB_ATTEMPT: '2',
    };
    const plan = { trace: this.#trace, hurry: 100 };
    const { ended } = startProgram(this.#lane.present, 'container', {}, environment, plan);
    let isOver = false;
    const over = ended.then(({ code, errors }) => {
      isOver = true;
      if (code !== 0) this.faults.push(`the next attempt ended with ${code}: ${errors}`);
    });
    const { records } = this.#service;
    while (!isOver && (await findLease(records, jobIdOf(record), 0))?.batch_attempt !== 2) await sleep(5);
    return { over };
  }

  async #cancel(record: JobRecord): Promise<void> {
    if (isFinal(record.status)) return;
    const { endpoint, question } = this.#course.cancel(record);
    const { status } = await ask(endpoints[endpoint], this.#service.environment, question);
    this.isCancelled = status < 300;
  }

  async #record(): Promise<JobRecord | undefined> {
    const records = await this.#course.records();
    if (records.length > 1) this.faults.push(`${records.length} jobs were made by one request`);
    return records[0];
  }

  async #quiet(): Promise<void> {
    const until = performance.now() + patienceMs;
    for (let passed = 0; ; ) {
      const record = await this.#record();
      const isOver =
        record === undefined ||
        (isFinal(record.status) &&
          (record.batch_job_id === null || this.#lane.hasHeardTheEnd(record.batch_job_id)));
      if (isOver) return;
      if (performance.now() > until) {
        this.faults.push('stale: the job does not end');
        return;
      }
      await sleep(20);
      passed += 1;
      if (passed % 500 === 0) await pass(this.#service, 120);
    }
  }
}

const patienceMs = 120_000;
