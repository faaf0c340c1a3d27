import { type ChildProcess, spawn } from 'node:child_process';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { constants, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { thisHost } from '../../../../shared/host/this-host.ts';
import { killTree, type ProcessSelector, processStartTime } from '../../../../shared/process/process-tree.ts';
import { type Exit, exitedByItself } from './job-life.ts';
import type { JobRecord } from './job-record.ts';

/** The process of a container, in its own session. When it ends, everything that it started ends too. */
export class JobProcess {
  readonly pid: number;
  readonly startTime: string | null;
  /** Resolves with the exit when no process of it remains. Never rejects. */
  readonly ended: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #selector: ProcessSelector;
  #kill: NodeJS.Timeout | undefined;
  #killAt = Number.POSITIVE_INFINITY;

  /** @throws errors of spawning, for example if the program is missing */
  static async start(order: ProcessOrder): Promise<JobProcess> {
    const [program = '', ...args] = order.command;
    const output = order.logPath === undefined ? 'ignore' : 'pipe';
    const child = spawn(program, args, {
      cwd: '/',
      env: order.environment,
      detached: true,
      stdio: ['ignore', output, output],
    });
    child.once('exit', thisHost.endWithThisProcess(child));
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

  /** Whether the process itself has ended. Its children may still run. */
  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /**
   * Send SIGTERM to the process once, and SIGKILL to it and its children `graceMs` later. The earliest requested
   * SIGKILL counts.
   */
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
    // The system may reuse the id of an ended process. The other selectors find its children.
    const { root: _, ...left } = this.#selector;
    try {
      await killTree(this.hasExited ? left : this.#selector);
    } catch (error) {
      console.error(`Batch: processes of ${this.#selector.marker?.value} remain: ${error}`);
    }
  }
}

interface ProcessOrder {
  command: readonly string[];
  /** The complete environment, including the marker. */
  environment: Readonly<Record<string, string>>;
  marker: string;
  /** File for its output; undefined drops the output. */
  logPath: string | undefined;
}

/** Return the exit code of a container: that of its process, or 128 plus the number of the signal. */
function shellExitCode(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** The variable that marks the processes of a job, including orphans. */
export const markerName = 'AWS_BATCH_JOB_ID';

/** Maximum bytes of a log: its file and the previous one together. */
const maxLogBytes = 10 * 1024 * 1024;

/**
 * Write the output of a process to `path`. When that file reaches half the limit, rename it to `path.1` and begin
 * a new one, because the end of a log is more useful than its beginning. A disk error ends the log, not the
 * process.
 * @returns when all streams have ended
 */
export async function writeLog(
  path: string,
  streams: readonly Readable[],
  limit = maxLogBytes,
): Promise<void> {
  const log = new TurningFile(path, limit / 2);
  await Promise.all(
    streams.map(async (stream) => {
      try {
        for await (const chunk of stream) await log.append(Buffer.from(chunk)).catch(() => undefined);
      } catch {
        // The stream was destroyed because the process has ended.
      }
    }),
  );
  await log.close().catch(() => undefined);
}

class TurningFile {
  readonly #path: string;
  readonly #turnAt: number;
  #file: FileHandle | undefined;
  #size = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(path: string, turnAt: number) {
    this.#path = path;
    this.#turnAt = turnAt;
  }

  append(chunk: Buffer): Promise<void> {
    const mine = this.#turn.then(() => this.#append(chunk));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#file?.close();
  }

  async #append(chunk: Buffer): Promise<void> {
    if (this.#size + chunk.length > this.#turnAt && this.#size > 0) {
      await this.#file?.close();
      this.#file = undefined;
      await rename(this.#path, `${this.#path}.1`);
    }
    if (this.#file === undefined) {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      this.#file = await open(this.#path, 'w', 0o600);
      this.#size = 0;
    }
    await this.#file.appendFile(chunk);
    this.#size += chunk.length;
  }
}

/** How long to read output after the last process is dead, if an unrelated process still holds the pipe. */
const drainLimitMs = 2_000;

/** Return the AWS_BATCH_JOB_ID of a node: the job's id, followed by the index in a multi-node job. */
export function nodeId(job: JobRecord, index: number): string {
  return job.multinode ? `${job.id}#${index}` : job.id;
}

/**
 * Return the complete environment of a node's process. Later sources override earlier ones: basic variables for
 * any program, the host's variables, those of the definition and the submission, and those of AWS Batch. No other
 * variable of the server's own environment passes through.
 */
export function processVariables(
  job: JobRecord,
  index: number,
  attempt: number,
  { own, given }: { own: NodeJS.ProcessEnv; given: Readonly<Record<string, string>> },
): Record<string, string> {
  const container = job.containers[job.nodes[index]?.container ?? 0];
  return {
    PATH: own['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: own['HOME'] ?? homedir(),
    LANG: own['LANG'] ?? 'C.UTF-8',
    TZ: own['TZ'] ?? 'UTC',
    ...given,
    ...Object.fromEntries(container?.environment.map(({ name, value }) => [name, value]) ?? []),
    [markerName]: nodeId(job, index),
    AWS_BATCH_JOB_ATTEMPT: String(attempt),
    AWS_BATCH_JQ_NAME: job.queue,
    AWS_BATCH_CE_NAME: 'local',
    ...(job.multinode && {
      AWS_BATCH_JOB_NODE_INDEX: String(index),
      AWS_BATCH_JOB_NUM_NODES: String(job.nodes.length),
      AWS_BATCH_JOB_MAIN_NODE_INDEX: '0',
      ...(index !== 0 && { AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS: '127.0.0.1' }),
    }),
  };
}

/** Remove log files with this prefix. */
export async function removeLogs(folder: string, prefix: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (name.startsWith(prefix)) await rm(join(folder, name), { force: true });
}
