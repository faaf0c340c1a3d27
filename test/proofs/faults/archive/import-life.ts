import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { event as jobStateChanged } from '../../../../functions/events/job-state-changed.event.ts';
import { type Experiment, listExperiments } from '../../../../shared/data/experiments/experiment.ts';
import { isFinal } from '../../../../shared/data/jobs/job-status.ts';
import { findProjects } from '../../../../shared/data/projects/project.ts';
import { findImport } from '../../../../shared/data/projects/project-archives.ts';
import { taskHandler } from '../../../../shared/http/definition/task.ts';
import { beginImporting } from '../../../integration/project-archive/archive-lab.ts';
import type { TracedCall } from '../injection/middleware.ts';
import { type Lane, prepareContainers } from '../kill/lane.ts';
import { leftOver } from '../kill/left-over.ts';
import { asking, type StoryGround } from '../kill/request-story.ts';
import type { Mark } from '../kill/strikes.ts';
import { archivePass } from '../world/archive-pass.ts';
import { type Answer, ask } from '../world/ask.ts';
import { endpoints } from '../world/endpoints.ts';
import { pass } from '../world/pass.ts';
import { startProgram } from '../world/process.ts';
import { newDeveloper, newService, removeService } from '../world/service.ts';
import { stopped } from '../world/stopped.ts';
import { witnessFolder } from '../world/witness-folder.ts';
import { endedImport, labOf, lostFiles } from './archived.ts';
import { type JobFiles, jobFilesIn } from './trainable-archive.ts';

/** What becomes of the job that the owner begins in the project while its import stands still. */
export const courses = ['ends', 'cancelled', 'goes on', 'deleted'] as const;

export interface ImportLifeAsked {
  /** Where the process that imports stands still; nowhere unless given. */
  mark?: Omit<Mark, 'role'>;
  course: (typeof courses)[number];
  /** Whether that process is then killed; else it goes on, late. */
  isKilled: boolean;
  /** Whether another run of the worker goes on with the import meanwhile. */
  isOvertaken: boolean;
}

export interface ImportLife {
  isHit: boolean;
  /** Whether the job was begun while the process stood still. */
  isDuring: boolean;
  faults: string[];
  calls: TracedCall[];
}

/** Imports an archive in a process that stands still at a mark, while a job of its project has its life. */
export async function liveImport(
  lane: Lane,
  archive: Buffer,
  { mark, course, isKilled, isOvertaken }: ImportLifeAsked,
): Promise<ImportLife> {
  const { folder, trace } = await witnessFolder(join(lane.folder, 'import-'));
  const files = jobFilesIn(lane.folder);
  const service = await newService(lane.engines, lane.batchUrl);
  try {
    await writeFile(files.witness, '');
    await rm(files.gate, { force: true });
    const ground = { service, ...(await newDeveloper(service)) };
    prepareContainers(lane, service);
    lane.setDeliver((event) => taskHandler(jobStateChanged, service.environment)(event));
    const sha256 = await beginImporting(labOf(ground), archive);
    const note = `${trace}.killed`;
    const kill = mark && { ...mark, note, signal: 'SIGSTOP' as const };
    const plan = { trace, ...(kill && { kill }) };
    const { pid, ended } = startProgram(lane.program, 'archives', {}, service.environment, plan);
    const owner = new Owner(lane, ground, files);
    const isHit = await stopped(pid, ended);
    if (isHit && isOvertaken) await archivePass(service);
    const made = await findImport(service.records, ground.user.user_id, sha256);
    const project_id = made?.project_id ?? '';
    if (isHit && made?.stage === 'recording') await owner.live(project_id, course);
    if (isHit) process.kill(pid, isKilled ? 'SIGKILL' : 'SIGCONT');
    const { signal, code, errors } = await ended;
    if (signal === null && code !== 0) owner.faults.push(`the import ended with ${code}: ${errors}`);
    const isDuring = owner.isBegun;
    const value = await endedImport(ground, sha256);
    // A project that was not there yet, or had no environment.
    if (!isDuring) await owner.live(project_id, course === 'goes on' ? 'ends' : course);
    await owner.settle(project_id);
    const { faults } = owner;
    if (course === 'deleted') {
      const { items } = await findProjects(service.records, [project_id]);
      if (items.length > 0) faults.push('stale: the project that was deleted');
      const isTold = value?.status === 'SUCCEEDED' || value?.status_reason?.includes('was deleted') === true;
      if (!isTold) faults.push(`the import is ${value?.status}: ${value?.status_reason}`);
    } else if (value?.status === 'SUCCEEDED') faults.push(...(await lostFiles(ground, project_id, archive)));
    else faults.push(`lost: the import is ${value?.status}: ${value?.status_reason}`);
    faults.push(...(await leftOver(service)));
    const lines = (await readFile(trace, 'utf8')).split('\n').filter((line) => line !== '');
    return { isHit: existsSync(note), isDuring, faults, calls: lines.map((line) => JSON.parse(line)) };
  } finally {
    lane.setDeliver(async () => undefined);
    await removeService(service);
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

/** Who imports, and trains in the project as soon as it lets them. */
class Owner {
  readonly faults: string[] = [];
  /** Whether a training was accepted. */
  isBegun = false;
  #course: ImportLifeAsked['course'] = 'ends';
  #experiment_id = '';
  readonly #lane: Lane;
  readonly #ground: StoryGround;
  readonly #files: JobFiles;

  constructor(lane: Lane, ground: StoryGround, files: JobFiles) {
    this.#lane = lane;
    this.#ground = ground;
    this.#files = files;
  }

  /** Begins a training and does with it what the course says; nothing where the project refuses it. */
  async live(project_id: string, course: ImportLifeAsked['course']): Promise<void> {
    const { token } = this.#ground;
    const path = { project_id };
    const begun = await this.#ask(asking('train', { path, query: { config: 'train.yaml' }, token }));
    this.isBegun = begun.status < 300;
    if (!this.isBegun) return;
    this.#course = course;
    this.#experiment_id = begun.json.experiment_id;
    await this.#until(async () => (await readFile(this.#files.witness, 'utf8')) !== '');
    if (course === 'cancelled') {
      const experiment_id = this.#experiment_id;
      await this.#must(asking('cancelExperiment', { path: { project_id, experiment_id }, token }));
    }
    if (course === 'deleted') {
      await this.#must(asking('deleteProject', { path, token }));
      await pass(this.#ground.service);
    }
    if (course === 'ends') await this.#open();
    if (course !== 'goes on') await this.#quiet(project_id);
  }

  /** Lets the job end, and judges it. */
  async settle(project_id: string): Promise<void> {
    const { service } = this.#ground;
    await this.#open();
    await this.#quiet(project_id);
    // A purge waits for the container, which ends after its record.
    await this.#until(() => this.#isOver());
    for (const seconds of [120, 240]) await pass(service, seconds);
    const runs = (await readFile(this.#files.witness, 'utf8')).split('\n').length - 1;
    const jobs = await this.#jobs(project_id);
    if (this.#course === 'deleted') {
      if (jobs.length > 0) this.faults.push('stale: a job of a deleted project');
      return;
    }
    if (runs !== 1) this.faults.push(`its work was done ${runs} times`);
    if (jobs.length !== 1) this.faults.push(`${jobs.length} jobs were made by one request`);
    const expected = this.#course === 'cancelled' ? 'CANCELLED' : 'SUCCEEDED';
    for (const { status, status_reason, artifacts } of jobs) {
      if (status !== expected) this.faults.push(`it ended ${status} (${status_reason}), not ${expected}`);
      if (status === 'SUCCEEDED' && artifacts !== 1) this.faults.push(`lost: it has ${artifacts} artifacts`);
    }
  }

  async #ask({ endpoint, question }: ReturnType<typeof asking>): Promise<Answer> {
    const answer = await ask(endpoints[endpoint], this.#ground.service.environment, question);
    if (answer.status >= 500) this.faults.push(`${endpoint} answered ${answer.status}`);
    return answer;
  }

  async #must(asked: ReturnType<typeof asking>): Promise<void> {
    const { status, json } = await this.#ask(asked);
    if (status >= 300) this.faults.push(`${asked.endpoint} answered ${status}: ${JSON.stringify(json)}`);
  }

  #open(): Promise<void> {
    return writeFile(this.#files.gate, '');
  }

  async #jobs(project_id: string): Promise<Experiment[]> {
    const { items } = await listExperiments(this.#ground.service.records, project_id, {});
    return items.filter(({ kind }) => kind !== 'logged');
  }

  #quiet(project_id: string): Promise<void> {
    return this.#until(async () => (await this.#jobs(project_id)).every(({ status }) => isFinal(status)));
  }

  /** Whether Batch has told that the job is over. */
  async #isOver(): Promise<boolean> {
    const { batch, settings } = this.#ground.service;
    const id = await batch.findByName(settings.train.queue, `train-${this.#experiment_id}`);
    return id === undefined || this.#lane.hasHeardTheEnd(id);
  }

  async #until(isSo: () => Promise<boolean>): Promise<void> {
    const until = performance.now() + patienceMs;
    while (!(await isSo())) {
      if (performance.now() > until) throw new Error('the job does not go on');
      await sleep(20);
    }
  }
}

const patienceMs = 120_000;
