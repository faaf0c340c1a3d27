import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { killTree, type ProcessSelector, processStartTime } from '../../../../shared/process/process-tree.ts';
import { type Exit, exitedByItself } from './job-life.ts';
import { writeLog } from './process-log.ts';

/** The variable that marks the processes of a job, also those without a parent. */
export const markerName = 'AWS_BATCH_JOB_ID';

interface ProcessOrder {
  command: readonly string[];
  /** The whole environment; it has the marker. */
  environment: Readonly<Record<string, string>>;
  marker: string;
  /** Where its output goes; without, nowhere. */
  logPath: string | undefined;
}

/** How long output may still come after the last process is dead, when a pipe got into foreign hands. */
const drainLimitMs = 2_000;

/** A process that stands for a container, in a session of its own. When it ends, so does all that it started. */
export class JobProcess {
  readonly pid: number;
  readonly startTime: string | null;
  /** How it ended, once nothing of it is left. Never rejects. */
  readonly ended: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #selector: ProcessSelector;
  #kill: NodeJS.Timeout | undefined;
  #killAt = Number.POSITIVE_INFINITY;

  /** @throws what spawning threw: no such program, say */
  static async start(order: ProcessOrder): Promise<JobProcess> {
    const [program = '', ...args] = order.command;
    const output = order.logPath === undefined ? 'ignore' : 'pipe';
    const child = spawn(program, args, {
      cwd: '/',
      env: order.environment,
      detached: true,
      stdio: ['ignore', output, output],
    });
    const exit = new Promise<Exit>((resolve) => {
      child.once('exit', (code, signal) =>
        resolve({ exitCode: shellExitCode(code, signal), statusReason: exitedByItself }),
      );
    });
    const pid = await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.once('spawn', () => resolve(child.pid ?? 0));
    });
    return new JobProcess(child, pid, await processStartTime(pid), order, exit);
  }

  private constructor(
    child: ChildProcess,
    pid: number,
    startTime: string | null,
    { marker, logPath }: ProcessOrder,
    exit: Promise<Exit>,
  ) {
    this.#child = child;
    this.pid = pid;
    this.startTime = startTime;
    this.#selector = { root: pid, group: pid, session: pid, marker: { name: markerName, value: marker } };
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const logged = logPath === undefined ? Promise.resolve() : writeLog(logPath, streams);
    this.ended = exit.then((outcome) => this.#cleanUp(outcome, streams, logged));
  }

  /** Whether the process itself has ended, though perhaps not yet all that it started. */
  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** SIGTERM to the process, once, and SIGKILL to all that it started `graceMs` later; the earliest end asked for counts. */
  stop(graceMs: number): void {
    const killAt = performance.now() + graceMs;
    if (this.hasExited || killAt >= this.#killAt) return;
    if (this.#killAt === Number.POSITIVE_INFINITY) this.#child.kill('SIGTERM');
    this.#killAt = killAt;
    clearTimeout(this.#kill);
    this.#kill = setTimeout(() => void this.#killAll(), graceMs);
  }

  async #cleanUp(outcome: Exit, streams: readonly Readable[], logged: Promise<void>): Promise<Exit> {
    clearTimeout(this.#kill);
    await this.#killAll();
    const patience = new AbortController();
    await Promise.race([
      logged,
      sleep(drainLimitMs, undefined, { signal: patience.signal }).catch(() => undefined),
    ]);
    patience.abort();
    for (const stream of streams) stream.destroy();
    return outcome;
  }

  async #killAll(): Promise<void> {
    // The id of an ended process may be reused; its children are found by the other checks.
    const { root: _, ...left } = this.#selector;
    try {
      await killTree(this.hasExited ? left : this.#selector);
    } catch (error) {
      console.error(`Batch: processes of ${this.#selector.marker?.value} remain: ${error}`);
    }
  }
}

/** The exit code of a container whose process ended so: its own, or 128 and the number of the signal. */
function shellExitCode(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
