import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type Exit, nodeEnded, nodeStarted } from './job-life.ts';
import { JobProcess, nodeId, processVariables } from './job-process.ts';
import type { JobRecord } from './job-record.ts';
import type { JobStore } from './job-store.ts';

/**
 * One attempt of a job. It starts the main node first, then the other nodes. When the main node ends, it ends all
 * others.
 */
export class Attempt {
  readonly #id: string;
  readonly #settings: AttemptSettings;
  readonly #processes = new Map<number, JobProcess>();
  /** Set when running and starting nodes must stop. */
  #stopping: { graceMs: number } | undefined;
  #mainEnded = false;
  #hostLoss: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: string, settings: AttemptSettings) {
    this.#id = id;
    this.#settings = settings;
  }

  /**
   * Run the attempt of a job in state STARTING. Wait until no process of any node remains.
   * @returns how the main node ended
   */
  async run(job: JobRecord): Promise<Exit> {
    const attempt = job.nodes[0].attempts.length + 1;
    const main = await this.#launch(job, 0, attempt);
    if (!(main instanceof JobProcess)) return main;
    this.#watchTime(job.timeoutSeconds);
    const loss = this.#loseSpotHost();
    const children = job.nodes.slice(1).map((_, index) => this.#runChild(job, index + 1, attempt));
    const exit = await main.ended;
    this.#mainEnded = true;
    clearTimeout(this.#timer);
    clearTimeout(loss);
    const outcome = this.#hostLoss === undefined ? exit : { statusReason: this.#hostLoss };
    if (children.length > 0) {
      await this.#change((present) => nodeEnded(present, 0, outcome, Date.now()));
      this.stop(this.#settings.stopGraceMs);
      await Promise.all(children);
    }
    return outcome;
  }

  /** Send SIGTERM to every node, and SIGKILL `graceMs` later, also to nodes that are just starting. */
  stop(graceMs: number): void {
    this.#stopping = { graceMs };
    for (const process of this.#processes.values()) process.stop(graceMs);
  }

  /** Stop the attempt like a loss of its machine, unless its main node has already ended by itself. */
  loseHost(statusReason: string, graceMs: number): void {
    if (this.#processes.get(0)?.hasExited !== true) this.#hostLoss = statusReason;
    this.stop(graceMs);
  }

  async #runChild(job: JobRecord, index: number, attempt: number): Promise<void> {
    const child = await this.#launch(job, index, attempt);
    const exit = child instanceof JobProcess ? await child.ended : child;
    const outcome = this.#mainEnded ? { ...exit, statusReason: 'The main node has ended' } : exit;
    await this.#change((present) => nodeEnded(present, index, outcome, Date.now()));
  }

  /** Start the process of a node. Return the process, or how it failed to start. */
  async #launch(job: JobRecord, index: number, attempt: number): Promise<JobProcess | Exit> {
    const container = job.containers[job.nodes[index]?.container ?? 0];
    if (this.#stopping !== undefined || container === undefined) {
      return { statusReason: this.#hostLoss ?? 'Stopped before it was started' };
    }
    if (container.overridesLength > maxOverridesLength) {
      return { statusReason: `Container Overrides length must be at most ${maxOverridesLength}` };
    }
    const failure = this.#settings.startFailure?.({ jobName: job.name, attempt, node: index });
    if (failure !== undefined) return failure;
    const { logFolder, hostEnvironment, roleEnvironment } = this.#settings;
    const logName = `${job.id}.${index}.${attempt}`;
    try {
      const process = await JobProcess.start({
        command: container.command,
        environment: processVariables(job, index, attempt, {
          own: globalThis.process.env,
          given: { ...hostEnvironment, ...roleEnvironment(job.definition) },
        }),
        marker: nodeId(job, index),
        logPath: logFolder === undefined ? undefined : join(logFolder, `${logName}.log`),
      });
      this.#processes.set(index, process);
      this.#stopIfAsked(process);
      const { pid, startTime } = process;
      const run = { process: { pid, startTime }, logStreamName: `${job.definition}/default/${logName}` };
      const startedAt = Date.now();
      await this.#change((present) => nodeStarted(present, index, run, startedAt));
      return process;
    } catch (error) {
      return {
        statusReason: 'Task failed to start',
        reason: `CannotStartContainerError: ${error}`.slice(0, 255),
      };
    }
  }

  /** Apply a stop that was requested during the start of the process. */
  #stopIfAsked(process: JobProcess): void {
    if (this.#stopping !== undefined) process.stop(this.#stopping.graceMs);
  }

  /** Take back the host of Spot, as AWS does: SIGTERM, and SIGKILL after the grace. */
  #loseSpotHost(): NodeJS.Timeout | undefined {
    const { lossSeconds, stopGraceMs } = this.#settings;
    if (lossSeconds === undefined) return undefined;
    return setTimeout(() => this.loseHost(interrupted, stopGraceMs), lossSeconds * 1000);
  }

  /** Use a monotonic clock, so that a change of the machine's time ends no job. */
  #watchTime(timeoutSeconds: number | undefined): void {
    if (timeoutSeconds === undefined || this.#mainEnded) return;
    const deadline = performance.now() + timeoutSeconds * 1000;
    const arm = () => {
      const left = deadline - performance.now();
      if (left <= 0) void this.#timeOut();
      else this.#timer = setTimeout(arm, Math.min(Math.ceil(left), longestTimerMs));
    };
    arm();
  }

  async #timeOut(): Promise<void> {
    const ending = 'Job attempt duration exceeded timeout';
    // If the main node has ended in the meantime, the timeout has no effect on the job.
    await this.#change((job) => (this.#mainEnded ? job : { ...job, ending: job.ending ?? ending }));
    this.stop(this.#settings.stopGraceMs);
  }

  /**
   * A change fails only if the store was closed during the attempt. The next start then finds the previous state.
   */
  async #change(step: (job: JobRecord) => JobRecord): Promise<void> {
    await this.#settings.store.change(this.#id, step).catch((error: unknown) => {
      console.error(`Batch: a step of job ${this.#id} was not recorded: ${error}`);
    });
  }
}

/** Status reason of AWS for a task of Fargate Spot. */
const interrupted = 'Your Spot Task was interrupted.';

export interface AttemptSettings {
  store: JobStore;
  logFolder: string | undefined;
  /** Milliseconds between SIGTERM and SIGKILL. */
  stopGraceMs: number;
  hostEnvironment: Readonly<Record<string, string>>;
  /** For tests: return how the host fails to start a container, or undefined if it starts the container. */
  startFailure?: ((start: ContainerStart) => StartFailure | undefined) | undefined;
  roleEnvironment(definition: string): Readonly<Record<string, string>>;
  /** Seconds after which an attempt loses its host; undefined on demand. */
  lossSeconds?: number | undefined;
}

/** The start of a container: job, attempt (from 1) and node. */
export interface ContainerStart {
  jobName: string;
  attempt: number;
  node: number;
}

export type StartFailure = Pick<Exit, 'statusReason' | 'reason'>;

/** Maximum length of a container's overrides in ECS. */
const maxOverridesLength = 8192;

/** Maximum duration of a timer. */
const longestTimerMs = 2 ** 31 - 1;
