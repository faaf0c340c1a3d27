import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../core/error-text.ts';
import type { CommandUser, EnvironmentMarker, Sandbox } from '../host/host.ts';
import { thisHost } from '../host/this-host.ts';
import { findExecutable } from './executable.ts';
import { MemoryWatch, type TreeListing } from './memory-watch.ts';
import { findProcesses, killTree, type ProcessSelector, signalProcesses } from './process-tree.ts';

interface Ending {
  /** Peak resident memory in bytes; null if the command ended before the first measurement. */
  peakRssBytes: number | null;
}

interface Interrupted extends Ending {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** Whether any of its processes outlived the grace period and was killed. */
  killed: boolean;
}

/**
 * How a command ended: by itself, at its timeout, above its memory limit, stopped by the caller, or never started.
 */
export type Outcome =
  | ({ cause: 'exited'; exitCode: number } & Ending)
  | ({ cause: 'signalled'; signal: NodeJS.Signals } & Ending)
  | ({ cause: 'timeout' } & Interrupted)
  /** Killed above its own limit, or while the kernel ended processes for want of memory. */
  | ({ cause: 'out-of-memory'; by: 'limit' | 'kernel' } & Interrupted)
  | ({ cause: 'stopped' } & Interrupted)
  | { cause: 'not-started'; message: string };

/**
 * Run a command to its end and end all its processes: it has its own session, no shell, no input, no inherited
 * environment and no rights beyond those of `user`. To stop it (`stop`, the timeout, an error of `onOutput`), send
 * SIGTERM to its process tree and, after the grace period, SIGKILL. Kill remaining processes at once if the
 * command ends by itself. When this resolves, `onOutput` has received all output that was written before the end.
 * @throws the error of `onOutput`; ProcessesRemainError if processes cannot be ended
 * @example
 * const outcome = await supervise({
 *   argv: ['python3', 'train.py'],
 *   cwd: workspace.source,
 *   env: { PATH: '/usr/bin:/bin' },
 *   timeoutSeconds: 3600,
 *   marker: { name: 'AWS_BATCH_JOB_ID', value: batch_job_id },
 *   stop: controller.signal,
 *   onOutput: (stream, chunk) => shipper.output(stream, chunk),
 * });
 * if (outcome.cause === 'exited') log.info('ended', { exit_code: outcome.exitCode });
 */
export async function supervise(command: SupervisedCommand): Promise<Outcome> {
  if (command.stop.aborted) {
    return { cause: 'stopped', exitCode: null, signal: null, killed: false, peakRssBytes: null };
  }
  const started = await start(command);
  return typeof started === 'string'
    ? { cause: 'not-started', message: started }
    : await attend(started, command);
}

/** A command and its limits. */
export interface SupervisedCommand {
  /** The program and its arguments. No shell reads them. */
  argv: readonly string[];
  cwd: string;
  /** The command's environment without the marker. The command inherits no other variables. */
  env: Readonly<Record<string, string>>;
  /** User of the command; requires root. All processes of this user are ended with the command. */
  user?: CommandUser;
  /**
   * The part of this machine that the command sees; everything by default. The kept folders must include the
   * command's own folders.
   */
  sandbox?: Sandbox;
  /** Memory limit of all its processes together, in bytes. */
  memoryBytes?: number;
  timeoutSeconds?: number;
  /** Seconds between SIGTERM and SIGKILL, in which the command can save its work; 20 by default. */
  graceSeconds?: number;
  /** An environment variable that identifies the processes of the command. */
  marker: EnvironmentMarker;
  /** Ends the command when aborted. */
  stop: AbortSignal;
  /** Receives what its processes use, about once a second. */
  onListing?: (listing: TreeListing) => void;
  /** Receives the output as it arrives. Calls for one stream never overlap: reading waits for the promise. */
  onOutput(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void> | void;
}

interface Started {
  child: ChildProcess;
  /** Whether the child only waits for the command. */
  isWaiter: boolean;
  /** Call it when the child and all its processes have ended. */
  release(): void;
}

/** Start the process, or return the reason why it cannot start. */
async function start(command: SupervisedCommand): Promise<Started | string> {
  const [name, ...args] = command.argv;
  if (name === undefined || name === '') return 'the command is blank';
  const folder = await stat(command.cwd).catch(() => null);
  if (folder?.isDirectory() !== true) return `the working folder ${command.cwd} does not exist`;
  const executable = await findExecutable(name, command);
  if ('fault' in executable) return executable.fault;
  const { user, cwd, sandbox, marker } = command;
  const env = { ...command.env, [marker.name]: marker.value };
  const launch = await thisHost.launchAs({ user, program: executable.path, args, env, cwd, sandbox, marker });
  try {
    const child = spawn(launch.file, launch.args, {
      ...launch.options,
      cwd: command.cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const release = thisHost.endWithThisProcess(child);
    await once(child, 'spawn');
    thisHost.offerToOomKiller(child.pid);
    return { child, isWaiter: launch.isWaiter, release };
  } catch (error) {
    return `${name}: cannot be started: ${errorText(error)}`;
  }
}

const defaultGraceSeconds = 20;

/** Milliseconds for which an escaped process may hold the pipes open after the command's end. */
const drainMilliseconds = 2_000;

async function attend({ child, isWaiter, release }: Started, command: SupervisedCommand): Promise<Outcome> {
  const exit = new Promise<'exit'>((resolve) => child.once('exit', () => resolve('exit')));
  const failure = Promise.withResolvers<'failure'>();
  const errors: unknown[] = [];
  const pumps = attachPumps(child, command, (error) => {
    errors.push(error);
    failure.resolve('failure');
  });
  const selection = () => selectTree(child, command);
  const kernel = new KernelKills();
  const memory = new MemoryWatch(selection, command.memoryBytes, (listing) => {
    kernel.note();
    command.onListing?.(listing);
  });
  const exceeded = memory.exceeded.then(() => 'limit' as const);
  const interrupted = interruption(command.stop, command.timeoutSeconds);
  try {
    const reason = await Promise.race([exit, interrupted.reason, failure.promise, exceeded]);
    // No grace period above the memory limit: the command could allocate more.
    const graceSeconds = reason === 'limit' ? 0 : (command.graceSeconds ?? defaultGraceSeconds);
    const waiter = isWaiter ? child.pid : undefined;
    const killed = reason !== 'exit' && (await terminate(selection, graceSeconds, waiter));
    await exit;
    await killTree(selection());
    for (const pump of pumps) pump.writerEnded(drainMilliseconds);
    await Promise.all(pumps.map(({ done }) => done));
    if (errors.length > 0) throw errors[0];
    const isKernels = reason === 'exit' && wasKilled(child) && kernel.hasKilledLately();
    return outcome(isKernels ? 'kernel' : reason, child, killed, memory.peakRssBytes);
  } finally {
    interrupted.cancel();
    memory.stop();
    if (isRunning(child)) child.kill('SIGKILL');
    release();
  }
}

/**
 * What the kernel has ended for want of memory. It counts all processes of the machine, so only a kill in the one to two
 * seconds before the end of a command tells how it ended.
 */
class KernelKills {
  #newer = thisHost.kernelOomKills();
  #older = this.#newer;

  /** Called about once a second. */
  note(): void {
    this.#older = this.#newer;
    this.#newer = thisHost.kernelOomKills();
  }

  hasKilledLately(): boolean {
    return thisHost.kernelOomKills() > this.#older;
  }
}

function attachPumps(
  { stdout, stderr }: ChildProcess,
  command: SupervisedCommand,
  fail: (error: unknown) => void,
): OutputPump[] {
  const attach = (name: 'stdout' | 'stderr', source: Readable | null) =>
    source === null ? [] : [new OutputPump(source, (chunk) => command.onOutput(name, chunk), fail)];
  return [...attach('stdout', stdout), ...attach('stderr', stderr)];
}

/** More than a pipe's capacity. Another process wrote further bytes after the writer's end. */
const maxBytesAfterEnd = 8 * 1024 * 1024;

/**
 * Passes the output of a pipe to a consumer, chunk by chunk. It waits for the consumer before each read, so memory
 * stays bounded and the writer blocks.
 */
class OutputPump {
  /** Resolves when all output has been passed on; never rejects. */
  readonly done: Promise<void>;
  readonly #source: Readable;
  readonly #consume: (chunk: Buffer) => Promise<void> | void;
  readonly #fail: (error: unknown) => void;
  #failed = false;
  /** Time since which no output has arrived while the consumer is free. */
  #waitingSince: number | null = null;
  /** Remaining milliseconds to wait for output; null before the end of the writer. */
  #patienceMs: number | null = null;
  #bytesAfterEnd = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param fail called once when the consumer rejects; the pump then reads and drops the rest of the output */
  constructor(
    source: Readable,
    consume: (chunk: Buffer) => Promise<void> | void,
    fail: (error: unknown) => void,
  ) {
    this.#source = source;
    this.#consume = consume;
    this.#fail = fail;
    this.done = this.#run();
  }

  /**
   * Report the end of the writer. The pump still passes on the rest of the pipe, however slow the consumer is. If
   * an escaped process holds the pipe open, the pump waits at most `patienceMs`.
   */
  writerEnded(patienceMs: number): void {
    this.#patienceMs = patienceMs;
    if (this.#waitingSince !== null) this.#wait();
  }

  async #run(): Promise<void> {
    try {
      this.#wait();
      for await (const chunk of this.#source) {
        this.#stopWaiting();
        if (Buffer.isBuffer(chunk)) await this.#handOver(chunk);
        if (this.#bytesAfterEnd > maxBytesAfterEnd) break;
        this.#wait();
      }
    } catch {
      // This object destroyed the pipe, or its last writer broke it: no more output arrives.
    } finally {
      clearTimeout(this.#timer);
      this.#source.destroy();
    }
  }

  async #handOver(chunk: Buffer): Promise<void> {
    if (this.#patienceMs !== null) this.#bytesAfterEnd += chunk.length;
    if (this.#failed) return;
    try {
      await this.#consume(chunk);
    } catch (error) {
      this.#failed = true;
      this.#fail(error);
    }
  }

  #wait(): void {
    this.#waitingSince = performance.now();
    if (this.#patienceMs !== null) this.#timer = setTimeout(() => this.#source.destroy(), this.#patienceMs);
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    const waited = performance.now() - (this.#waitingSince ?? performance.now());
    if (this.#patienceMs !== null) this.#patienceMs = Math.max(this.#patienceMs - waited, 0);
    this.#waitingSince = null;
  }
}

/**
 * Select the processes of the command. Uses its pid only while it runs, because the pid may be reused afterwards.
 */
function selectTree(child: ChildProcess, { user, marker }: SupervisedCommand): ProcessSelector {
  const { pid } = child;
  return {
    marker,
    ...(pid === undefined ? {} : { group: pid, session: pid }),
    ...(pid === undefined || !isRunning(child) ? {} : { root: pid }),
    ...(user === undefined || user.uid === process.getuid?.() ? {} : { uid: user.uid }),
  };
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** The longest timer of Node.js. A longer one fires at once. */
const maxTimerMilliseconds = 2 ** 31 - 1;

/**
 * Resolve with the first interruption of a command: its timeout or `stop`. `cancel` removes the timer and the
 * listener.
 */
function interruption(
  stop: AbortSignal,
  timeoutSeconds: number | undefined,
): { reason: Promise<'timeout' | 'stopped'>; cancel: () => void } {
  const { promise, resolve } = Promise.withResolvers<'timeout' | 'stopped'>();
  const onStop = () => resolve('stopped');
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  const timer =
    timeoutSeconds === undefined
      ? undefined
      : setTimeout(resolve, Math.min(timeoutSeconds * 1000, maxTimerMilliseconds), 'timeout');
  const cancel = () => {
    clearTimeout(timer);
    stop.removeEventListener('abort', onStop);
  };
  return { reason: promise, cancel };
}

const pollMilliseconds = 100;

/**
 * Send SIGTERM to every process of a tree, wait for the grace period, and kill the rest.
 * @param selection called before each listing, because it can narrow after the first process has ended
 * @param waiter a process that only waits for the others; it would forward the signal to them a second time
 * @returns whether any process had to be killed
 */
async function terminate(
  selection: () => ProcessSelector,
  graceSeconds: number,
  waiter?: number,
): Promise<boolean> {
  const deadline = performance.now() + graceSeconds * 1000;
  await signalProcesses(selection(), 'SIGTERM', waiter);
  await signalProcesses(selection(), 'SIGCONT'); // A stopped process would not get it.
  // The init of a sandbox ignores SIGTERM. Do not wait for it.
  while ((await findProcesses(selection())).some(({ isNamespaceInit }) => !isNamespaceInit)) {
    const left = deadline - performance.now();
    if (left <= 0) {
      await killTree(selection());
      return true;
    }
    await sleep(Math.min(left, pollMilliseconds));
  }
  return false;
}

/** Exit code with which shells and many programs report a child killed by SIGKILL: 128 plus the signal number. */
const killedExitCode = 128 + constants.signals.SIGKILL;

function wasKilled({ exitCode, signalCode }: ChildProcess): boolean {
  return signalCode === 'SIGKILL' || exitCode === killedExitCode;
}

function outcome(
  reason: 'exit' | 'failure' | 'timeout' | 'stopped' | 'limit' | 'kernel',
  { exitCode, signalCode: signal }: ChildProcess,
  killed: boolean,
  peakRssBytes: number | null,
): Outcome {
  const interrupted: Interrupted = { exitCode, signal, killed, peakRssBytes };
  if (reason === 'timeout') return { cause: 'timeout', ...interrupted };
  if (reason === 'limit' || reason === 'kernel')
    return { cause: 'out-of-memory', by: reason, ...interrupted };
  if (reason === 'stopped') return { cause: 'stopped', ...interrupted };
  if (exitCode !== null) return { cause: 'exited', exitCode, peakRssBytes };
  if (signal !== null) return { cause: 'signalled', signal, peakRssBytes };
  throw new Error('a process ended with neither an exit code nor a signal');
}
