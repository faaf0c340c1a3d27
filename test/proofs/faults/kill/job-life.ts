import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { event as jobStateChanged } from '../../../../functions/events/job-state-changed.event.ts';
import { isFinal } from '../../../../shared/data/jobs/job-status.ts';
import { taskHandler } from '../../../../shared/http/definition/task.ts';
import { batchNameOf, buildNameOf, type JobRecord } from '../../../../shared/jobs/job-record.ts';
import { queueOf } from '../../../../shared/jobs/submission.ts';
import { writePlan } from '../injection/plan.ts';
import { ask } from '../world/ask.ts';
import { endpoints } from '../world/endpoints.ts';
import { pass } from '../world/pass.ts';
import { startProgram } from '../world/process.ts';
import { newDeveloper, newService, removeService, type Service } from '../world/service.ts';
import { witnessFolder } from '../world/witness-folder.ts';
import type { Course, JobKind, NamedQuestion } from './course.ts';
import type { Life, Role, Scenario, Strike } from './job-strike.ts';
import { judgeLife } from './judge-life.ts';
import { definitions, type Lane, prepareContainers } from './lane.ts';
import { prepareCourse } from './prepare-course.ts';
import { shareOf } from './share-of.ts';
import { takeSlot } from './take-place.ts';

const longestPauseMs = 500;

/** Lives the life of one job in which `strike` kills one process, or none; and has two passes put right what is left. */
export async function liveJob(
  lane: Lane,
  scenario: Scenario,
  strike?: Strike,
  kind: JobKind = 'train',
): Promise<Life> {
  const { folder, witness, trace } = await witnessFolder(join(lane.folder, 'life-'));
  const service = await newService(lane.engines, lane.batchUrl);
  try {
    const { token, user } = await newDeveloper(service);
    const course = await prepareCourse(kind, {
      service,
      token,
      user_id: user.user_id,
      scenario,
      folder,
      witness,
    });
    const end = scenario === 'waiting' ? await takeSlot(service, token, user.user_id) : undefined;
    const life = new JobLife(lane, service, course, { scenario, strike, trace, end });
    const neighbour = shareOf(await service.inventory(), course.neighbours).join();
    const record = await life.run();
    const inventory = await service.inventory();
    const faults = judgeLife({
      inventory,
      record,
      lacking: record === undefined ? [] : course.lacking(inventory, record),
      kind,
      scenario,
      strike: life.isHit ? strike : undefined,
      isAcknowledged: life.isAcknowledged,
      isCancelled: life.isCancelled,
      runs: (await readFile(witness, 'utf8')).split('\n').length - 1,
    });
    if (record !== undefined) faults.push(...((await course.lost?.(record)) ?? []));
    if (shareOf(inventory, course.neighbours).join() !== neighbour) faults.push('a neighbour was touched');
    const lines = (await readFile(trace, 'utf8')).split('\n').filter((line) => line !== '');
    return {
      isHit: life.isHit,
      faults: [...life.faults, ...faults],
      calls: lines.map((line) => JSON.parse(line)),
      status: record?.status ?? 'none',
    };
  } finally {
    lane.setDeliver(async () => undefined);
    await removeService(service);
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

interface Circumstances {
  scenario: Scenario;
  strike: Strike | undefined;
  trace: string;
  /** The event by which the job ends that has the place; undefined where none has. */
  end: unknown;
}

class JobLife {
  isAcknowledged = false;
  /** Whether whoever cancelled the job was told that it is. */
  isCancelled = false;
  readonly faults: string[] = [];
  readonly #lane: Lane;
  readonly #service: Service;
  readonly #course: Course;
  readonly #given: Circumstances;
  /** Is there once the kill has come to pass. */
  readonly #killed: string;
  #events = 0;

  constructor(lane: Lane, service: Service, course: Course, given: Circumstances) {
    this.#lane = lane;
    this.#service = service;
    this.#course = course;
    this.#given = given;
    this.#killed = `${given.trace}.killed`;
  }

  get isHit(): boolean {
    return existsSync(this.#killed);
  }

  async run(): Promise<JobRecord | undefined> {
    const { environment, settings } = this.#service;
    const { scenario } = this.#given;
    const definition = scenario === 'again' ? definitions.again : definitions.once;
    for (const kind of ['train', 'prune', 'quantize'] as const) {
      environment[`${kind.toUpperCase()}_DEFINITION`] = definition;
      settings[kind].definition = definition;
    }
    this.#prepareContainers();
    this.#lane.setDeliver((event) => this.#deliver(event));
    // Nothing listens there.
    const away = scenario === 'late' ? { BATCH_ENDPOINT: 'http://127.0.0.1:9' } : {};
    this.isAcknowledged = await this.#ask('create', this.#course.create, { ...environment, ...away });
    const begun = await this.#record();
    if (this.#given.end !== undefined) await this.#deliver(this.#given.end);
    if (begun === undefined) return undefined;
    if (scenario === 'cancelled') await this.#cancel(begun);
    else await this.#quiet(begun);
    if (scenario === 'late') await this.#pass(60);
    for (const seconds of [120, 240]) {
      await pass(this.#service, seconds);
      await this.#quiet(begun);
    }
    return this.#record();
  }

  /** Does it in a process of its own where that is to be killed or traced; true when it succeeded. */
  async #ask(
    role: 'create' | 'cancel',
    named: NamedQuestion,
    environment: Record<string, string>,
  ): Promise<boolean> {
    if (this.#isObserved(role)) return this.#process(role, named, environment);
    return (await ask(endpoints[named.endpoint], environment, named.question)).status < 300;
  }

  async #pass(seconds: number): Promise<void> {
    if (this.#isObserved('pass')) await this.#process('pass', { seconds }, this.#service.environment);
    else await pass(this.#service, seconds);
  }

  #isObserved(role: Role): boolean {
    const { strike } = this.#given;
    return strike === undefined || strike.role === role;
  }

  /** The plan of a process of this role. */
  #planFor(role: Role) {
    const { strike, trace } = this.#given;
    if (strike?.role !== role) return { trace };
    const { at, when, part } = strike;
    const who = role === 'container' ? { role: part === undefined ? role : `${role} ${part}` } : {};
    return { trace, kill: { at, when, note: this.#killed, ...who } };
  }

  async #process(role: Role, given: unknown, environment: Record<string, string>): Promise<boolean> {
    const name = role === 'event' ? `event ${this.#events - 1}` : role;
    const plan = { role: name, ...this.#planFor(role) };
    const { ended } = startProgram(this.#lane.program, role, given, environment, plan);
    const { code, signal, errors } = await ended;
    if (signal !== 'SIGKILL' && code !== 0) this.faults.push(`${role} ended with ${code}: ${errors}`);
    return code === 0;
  }

  #prepareContainers(): void {
    prepareContainers(this.#lane, this.#service, {
      ...this.#course.hostEnvironment,
      ...writePlan({ role: 'container', hurry: 100, ...this.#planFor('container') }),
    });
  }

  async #deliver(event: unknown): Promise<void> {
    const { strike } = this.#given;
    const index = this.#events;
    this.#events += 1;
    const isStruck = strike?.role === 'event' && strike.event === index;
    if (strike !== undefined && !isStruck)
      return taskHandler(jobStateChanged, this.#service.environment)(event);
    const done = await this.#process('event', event, this.#service.environment);
    if (!done && strike?.isLost !== true) {
      // It comes again, to a process that lives.
      return taskHandler(jobStateChanged, this.#service.environment)(event);
    }
  }

  async #record(): Promise<JobRecord | undefined> {
    const records = await this.#course.records();
    if (records.length > 1) this.faults.push(`${records.length} jobs were made by one request`);
    return records[0];
  }

  async #cancel(begun: JobRecord): Promise<void> {
    let mayBeOver = true;
    for (;;) {
      const present = await this.#record();
      if (present === undefined || isFinal(present.status)) return;
      if (this.#course.isUnderWay(present)) break;
      if (mayBeOver) {
        const end = this.#lane.nextEnd();
        if (await this.#isOver(begun)) return;
        mayBeOver = false;
        void end.then(() => {
          mayBeOver = true;
        });
      }
      await sleep(15);
    }
    this.isCancelled = await this.#ask('cancel', this.#course.cancel(begun), this.#service.environment);
  }

  /** Whether Batch has nothing to do for the job any more, and has told so. */
  async #isOver(record: JobRecord): Promise<boolean> {
    const { batch, settings } = this.#service;
    const ids = await Promise.all([
      batch.findByName(queueOf(record, settings).queue, batchNameOf(record)),
      ...(record.kind === 'train-remote'
        ? [batch.findByName(settings.train.queue, buildNameOf(record))]
        : []),
    ]);
    const jobs = await batch.describe(ids.filter((id) => id !== undefined));
    return jobs.every(
      ({ id, status }) => (status === 'SUCCEEDED' || status === 'FAILED') && this.#lane.hasHeardTheEnd(id),
    );
  }

  async #quiet(record: JobRecord): Promise<void> {
    for (;;) {
      const end = this.#lane.nextEnd();
      if (await this.#isOver(record)) return;
      // To ask all the time would take more of the machine than the job itself.
      await Promise.race([end, sleep(longestPauseMs)]);
    }
  }
}
