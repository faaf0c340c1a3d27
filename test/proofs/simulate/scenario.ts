import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as trainProject } from '../../../functions/projects/training/train-project.endpoint.ts';
import { type Fate, runJob } from './container.ts';
import type { LimitUse } from './meter.ts';
import { jobSize, type Overhead, overheadOf } from './overhead.ts';
import type { VirtualClock } from './virtual-clock.ts';
import { type Asked, type Member, World } from './world.ts';

export interface Scenario {
  name: string;
  /** Jobs that run at the same time once the load is there. */
  jobs: number;
  /** Users with an account. One in a hundred is at work, and sends a request every five seconds. */
  users: number;
  /** Minutes of virtual time, after the first jobs. */
  minutes: number;
  /** Projects, each with an owner; default one for twenty jobs. */
  projects?: number;
  /** Begin so many jobs a second, `jobs` in all, and go on until all have ended. */
  launch?: number;
  /** Mean seconds of a training; default ten minutes. */
  length?: number;
  /** Places of a user; default so many that no job waits. */
  places?: number;
  /** Lose one event in a hundred, deliver one twice, and lose all hosts at once in the middle. */
  isHarsh?: boolean;
}

export interface Outcome {
  scenario: Scenario;
  uses: LimitUse[];
  requests: number;
  /** Requests that answered 5xx. */
  failed: number;
  /** Trainings that were refused though the limits had room. */
  refused: number;
  /** How often these two had each status and detail. */
  reasons: ReadonlyMap<string, number>;
  /** Milliseconds of a request that begins a training: the median, and of 99 in 100. */
  begin: { p50: number; p99: number };
  /** Seconds of the longest pass of the reconciler, and passes that failed. */
  pass: { seconds: number; failed: number };
  concurrent: number;
  /** Of a load with an end. */
  whole: Whole | undefined;
}

interface Whole {
  /** Jobs that never ended, that ran twice at once, and submissions of a name that had one. */
  lost: number;
  doubled: number;
  repeated: number;
  /** Milliseconds from the end of a job until another one has its place. */
  place: { p50: number; p99: number };
  hours: number;
  overhead: Overhead;
  /** Units of DynamoDB by the kind of items, the most expensive first. */
  units: readonly { items: string; reads: number; writes: number }[];
}

/** Mean seconds of a training, and those over which the first ones begin. */
const meanSeconds = 600;
const rampSeconds = 300;
const jobsOfProject = 20;
const reconcileSeconds = 300;
const thinkSeconds = 5;

interface Project {
  project_id: string;
  owner: Member;
  last: string | undefined;
}

const between = (low: number, high: number): number => low + Math.random() * (high - low);

/** One run of a scenario. */
class Run {
  readonly world: World;
  readonly #scenario: Scenario;
  readonly #projects: Project[] = [];
  readonly #members: Member[] = [];
  readonly #begins: number[] = [];
  requests = 0;
  failed = 0;
  refused = 0;
  readonly #reasons = new Map<string, number>();
  running = 0;
  concurrent = 0;
  pass = { seconds: 0, failed: 0 };
  /** Experiments that were begun, and their owners. */
  readonly #begun: string[] = [];
  readonly #ended = new Set<string>();
  readonly #alive = new Set<string>();
  #seconds = 0;
  #doubled = 0;
  /** Times at which places became free, and the waits until another job had them. */
  readonly #free: number[] = [];
  readonly #waits: number[] = [];
  /** Time at which all hosts are lost. */
  lossAt = Number.POSITIVE_INFINITY;

  constructor(clock: VirtualClock, scenario: Scenario) {
    this.#scenario = scenario;
    const places = scenario.places ?? 4 * scenario.jobs;
    const limits = {
      LIMIT_VCPUS: String(places),
      LIMIT_UNFINISHED_JOBS: String(places),
      LIMIT_WAITING_JOBS: 'none',
      LIMIT_JOB_SECONDS: '21600',
    };
    const fate = this.#fate(clock);
    this.world = new World(clock, limits, (world, job) => {
      this.running += 1;
      this.concurrent = Math.max(this.concurrent, this.running);
      const since = this.#free.shift();
      if (since !== undefined) this.#waits.push(clock.now - since);
      void runJob(world, job, fate).finally(() => {
        this.running -= 1;
      });
    });
  }

  #fate(clock: VirtualClock): Fate {
    const { isHarsh = false, length = meanSeconds } = this.#scenario;
    return {
      workLeft: () => between(0.5, 1.5) * length,
      copies: () => (isHarsh && Math.random() < 0.02 ? (Math.random() < 0.5 ? 0 : 2) : 1),
      isHostLost: (_, startedAt) => startedAt < this.lossAt && clock.now >= this.lossAt,
      began: (id) => {
        if (this.#alive.has(id)) this.#doubled += 1;
        this.#alive.add(id);
      },
      lost: (id) => void this.#alive.delete(id),
      ran: (seconds) => {
        this.#seconds += seconds;
      },
      ended: (id) => {
        if (this.#ended.has(id)) this.#doubled += 1;
        this.#ended.add(id);
        this.#alive.delete(id);
        if (this.#begun.length - this.#ended.size > this.running) this.#free.push(clock.now);
      },
    };
  }

  /** Begin all jobs of a load with an end, and wait until they have ended, for two weeks at most. */
  async untilAllEnded(launch: number): Promise<void> {
    const { clock } = this.world;
    const { jobs, places = jobs, isHarsh, length = meanSeconds } = this.#scenario;
    const began = clock.now;
    if (isHarsh) this.lossAt = began + ((jobs / launch + (jobs / places) * length) * 1000) / 2;
    for (let begun = 0; begun < jobs; begun += 1) {
      await clock.sleep(1000 / launch);
      void this.#train();
    }
    const end = clock.now + 14 * 86_400_000;
    while (this.#ended.size < this.#begun.length && clock.now < end) await clock.sleep(60_000);
    this.hours = (clock.now - began) / 3_600_000;
  }

  hours = 0;

  async #ask(asked: Asked): Promise<{ status: number; body: string }> {
    const answer = await this.world.ask(asked);
    this.requests += 1;
    if (answer.status >= 500) {
      this.failed += 1;
      this.#note(answer);
    }
    return answer;
  }

  #note({ status, body }: { status: number; body: string }): void {
    const reason = `${status} ${JSON.parse(body).detail}`;
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }

  async #newProject(owner: Member): Promise<void> {
    const query = {
      'project-name': 'digits',
      'project-description': 'Reads digits',
      'project-type': 'vision',
      'project-task': 'classification',
    };
    const made = await this.#ask({ endpoint: createProject, as: owner, query });
    const { project_id }: { project_id: string } = JSON.parse(made.body);
    const path = { project_id };
    const config = { ...path, config_id: 'train.yaml' };
    await this.#ask({ endpoint: putConfig, as: owner, path: config, body: 'epochs: 3\n' });
    const environment = { entry_point_command: 'python train.py', env_type: 'python', dependencies: 'numpy' };
    await this.#ask({ endpoint: putEnvironment, as: owner, path, query: environment });
    this.#projects.push({ project_id, owner, last: undefined });
  }

  /** Make the users who are at work and the projects, before anything is measured. */
  async prepare(): Promise<void> {
    const { users, jobs } = this.#scenario;
    const { projects = Math.max(1, Math.ceil(jobs / jobsOfProject)) } = this.#scenario;
    const members = Math.max(projects, Math.ceil(users / 100));
    // One after the other, because all of them are counted in one item.
    for (let index = 0; index < members; index += 1)
      this.#members.push(await this.world.member('developer', index));
    let made = 0;
    const lane = async () => {
      for (let owner = this.#members[made]; made < projects && owner !== undefined; ) {
        made += 1;
        await this.#newProject(owner);
        owner = this.#members[made];
      }
    };
    await Promise.all(Array.from({ length: 5 }, lane));
  }

  async #train(): Promise<void> {
    const project = this.#projects[Math.floor(Math.random() * this.#projects.length)];
    if (project === undefined) return;
    const began = this.world.clock.now;
    const answer = await this.#ask({
      endpoint: trainProject,
      as: project.owner,
      path: { project_id: project.project_id },
      query: { config: 'train.yaml', vcpus: `${jobSize.vcpus}`, memory: `${1024 * jobSize.gib}` },
    });
    this.#begins.push(this.world.clock.now - began);
    if (answer.status === 409) {
      this.refused += 1;
      this.#note(answer);
    }
    if (answer.status !== 200) return;
    project.last = JSON.parse(answer.body).experiment_id;
    this.#begun.push(project.last ?? '');
  }

  /** Begin as many trainings as are to run at the same time, and then as many as end. */
  async beginJobs(end: number): Promise<void> {
    const { clock } = this.world;
    const { jobs } = this.#scenario;
    const ramped = clock.now + rampSeconds * 1000;
    while (clock.now < end) {
      const seconds = (clock.now < ramped ? rampSeconds : meanSeconds) / jobs;
      await clock.sleep(-Math.log(1 - Math.random()) * seconds * 1000);
      void this.#train();
    }
  }

  #request(as: Member): Asked {
    const project = this.#projects[Math.floor(Math.random() * this.#projects.length)];
    const path = { project_id: project?.project_id ?? '' };
    const kind = Math.random();
    if (kind < 0.1) return { endpoint: listProjects, as, query: { limit: '50' } };
    if (kind < 0.3) return { endpoint: listExperiments, as, path, query: { limit: '20' } };
    if (kind < 0.6 && project?.last !== undefined)
      return { endpoint: readExperiment, as, path: { ...path, experiment_id: project.last } };
    return { endpoint: readProject, as, path };
  }

  /** Users at work ask for projects, experiments and lists. */
  async work(end: number): Promise<void> {
    const { clock } = this.world;
    const atWork = Math.max(1, Math.ceil(this.#scenario.users / 100));
    while (clock.now < end) {
      await clock.sleep((-Math.log(1 - Math.random()) * thinkSeconds * 1000) / atWork);
      const as = this.#members[Math.floor(Math.random() * this.#members.length)];
      if (as !== undefined) void this.#ask(this.#request(as));
    }
  }

  /** Start the reconciler as the stream of the table does: minutes after a change, one pass at a time. */
  async reconcile(end: number): Promise<void> {
    const { clock } = this.world;
    while (clock.now < end) {
      await clock.sleep(reconcileSeconds * 1000);
      const began = clock.now;
      await this.world.reconcile(undefined).catch(() => {
        this.pass.failed += 1;
      });
      this.pass.seconds = Math.max(this.pass.seconds, (clock.now - began) / 1000);
    }
  }

  outcome(): Outcome {
    const begins = this.#begins.sort((one, other) => one - other);
    const at = (share: number) => begins[Math.floor(share * (begins.length - 1))] ?? 0;
    const { requests, failed, refused, pass, concurrent } = this;
    const begin = { p50: at(0.5), p99: at(0.99) };
    const uses = this.world.meter.uses();
    const waits = this.#waits.sort((one, other) => one - other);
    const waited = (share: number) => waits[Math.floor(share * (waits.length - 1))] ?? 0;
    const whole =
      this.#scenario.launch === undefined
        ? undefined
        : {
            lost: this.#begun.length - this.#ended.size,
            doubled: this.#doubled,
            repeated: this.world.batch.repeated,
            place: { p50: waited(0.5), p99: waited(0.99) },
            hours: this.hours,
            overhead: overheadOf(this.world.meter.billed, this.#seconds),
            units: this.world.meter.units(),
          };
    const counts = { requests, failed, refused, reasons: this.#reasons };
    return { scenario: this.#scenario, uses, ...counts, begin, pass, concurrent, whole };
  }
}

/** Run a scenario in virtual time. */
export async function runScenario(clock: VirtualClock, scenario: Scenario): Promise<Outcome> {
  const run = new Run(clock, scenario);
  let isPrepared = false;
  void run.prepare().then(() => {
    isPrepared = true;
  });
  while (!isPrepared) await clock.runUntil(clock.now + 10_000);
  run.requests = 0;
  run.failed = 0;
  run.world.meter.forgetBilled();
  if (scenario.launch !== undefined) {
    let isOver = false;
    void run.reconcile(Number.POSITIVE_INFINITY);
    void run.untilAllEnded(scenario.launch).then(() => {
      isOver = true;
    });
    while (!isOver) await clock.runUntil(clock.now + 60_000);
    return run.outcome();
  }
  const end = clock.now + scenario.minutes * 60_000;
  void run.beginJobs(end);
  void run.work(end);
  void run.reconcile(end);
  await clock.runUntil(end);
  return run.outcome();
}
