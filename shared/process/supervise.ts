import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { type CommandUser, findExecutable } from './executable.ts';
import { MemoryWatch } from './memory-watch.ts';
import { kernelOomKills, offerToOomKiller } from './oom-killer.ts';
import { OutputPump } from './output-pump.ts';
import { launchAs } from './privileges.ts';
import { killTree, type ProcessSelector } from './process-tree.ts';
import type { Sandbox } from './sandbox.ts';
import { interruption, terminate } from './termination.ts';

export interface SupervisedCommand {
  /** The program and its arguments. No shell reads them. */
  argv: readonly string[];
  cwd: string;
  /** All of the command's environment but the marker; nothing is inherited. */
  env: Readonly<Record<string, string>>;
  /** Whom to run as, for which this process must be root. The user should run nothing else: all of it ends. */
  user?: CommandUser;
  /** What it sees of this machine; all unless given. Its own folders must be among those that are kept. */
  sandbox?: Sandbox;
  /** What all its processes may take together, in bytes. */
  memoryBytes?: number;
  timeoutSeconds?: number;
  /** What the command gets between SIGTERM and SIGKILL to save its work; 20 unless given. */
  graceSeconds?: number;
  /** A variable put into the environment, by which the command's processes are found again. */
  marker: { name: string; value: string };
  /** Ends the command when aborted. */
  stop: AbortSignal;
  /** Gets the output as it comes. Calls for one stream never overlap: reading waits for the answer. */
  onOutput(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void> | void;
}

interface Ending {
  /** The largest resident memory seen, in bytes; null when the command ended before a first look. */
  peakRssBytes: number | null;
}

interface Interrupted extends Ending {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** Whether anything of it was still running when the grace was over. */
  killed: boolean;
}

/**
 * How a command ended: by itself, because its time was over or its memory used up, because it was stopped, or not even
 * started.
 */
export type Outcome =
  | ({ cause: 'exited'; exitCode: number } & Ending)
  | ({ cause: 'signalled'; signal: NodeJS.Signals } & Ending)
  | ({ cause: 'timeout' } & Interrupted)
  | ({ cause: 'out-of-memory' } & Interrupted)
  | ({ cause: 'stopped' } & Interrupted)
  | { cause: 'not-started'; message: string };

const DEFAULT_GRACE_SECONDS = 20;
/** How long after the end a process that escaped may hold the pipes open. */
const DRAIN_MS = 2_000;

/**
 * Runs a command to its end and leaves nothing of it behind: own session, no shell, no input, no inherited
 * environment or rights beyond `user`. When it is to stop (`stop`, the timeout, a failing `onOutput`) its whole
 * process tree gets SIGTERM and, after the grace, SIGKILL; what it leaves running when it ends by itself is
 * killed at once. All output written before the end has been handed over when this resolves.
 * @throws what `onOutput` threw; ProcessesRemainError when processes cannot be ended
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

interface Started {
  child: ChildProcess;
  /** Whether the child only waits for the command. */
  isWaiter: boolean;
}

/** The started process, or why it cannot be started. */
async function start(command: SupervisedCommand): Promise<Started | string> {
  const [name, ...args] = command.argv;
  if (name === undefined || name === '') return 'the command is blank';
  const folder = await stat(command.cwd).catch(() => null);
  if (folder?.isDirectory() !== true) return `the working folder ${command.cwd} does not exist`;
  const executable = await findExecutable(name, command);
  if ('fault' in executable) return executable.fault;
  const { user, cwd, sandbox, marker } = command;
  const env = { ...command.env, [marker.name]: marker.value };
  const launch = await launchAs({ user, program: executable.path, args, env, cwd, sandbox, marker });
  try {
    const child = spawn(launch.file, launch.args, {
      ...launch.options,
      cwd: command.cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await once(child, 'spawn');
    offerToOomKiller(child.pid);
    return { child, isWaiter: launch.isWaiter };
  } catch (error) {
    return `${name}: cannot be started: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function attend({ child, isWaiter }: Started, command: SupervisedCommand): Promise<Outcome> {
  const exit = new Promise<'exit'>((resolve) => child.once('exit', () => resolve('exit')));
  const failure = Promise.withResolvers<'failure'>();
  const errors: unknown[] = [];
  const pumps = attachPumps(child, command, (error) => {
    errors.push(error);
    failure.resolve('failure');
  });
  const selection = () => selectTree(child, command);
  const killsBefore = kernelOomKills();
  const memory = new MemoryWatch(selection, command.memoryBytes);
  const exceeded = memory.exceeded.then(() => 'memory' as const);
  const interrupted = interruption(command.stop, command.timeoutSeconds);
  try {
    const reason = await Promise.race([exit, interrupted.reason, failure.promise, exceeded]);
    // Whoever takes too much memory gets no time to take more.
    const graceSeconds = reason === 'memory' ? 0 : (command.graceSeconds ?? DEFAULT_GRACE_SECONDS);
    const waiter = isWaiter ? child.pid : undefined;
    const killed = reason !== 'exit' && (await terminate(selection, graceSeconds, waiter));
    await exit;
    await killTree(selection());
    for (const pump of pumps) pump.writerEnded(DRAIN_MS);
    await Promise.all(pumps.map(({ done }) => done));
    if (errors.length > 0) throw errors[0];
    const isKernels = wasKilled(child) && kernelOomKills() > killsBefore;
    return outcome(reason === 'exit' && isKernels ? 'memory' : reason, child, killed, memory.peakRssBytes);
  } finally {
    interrupted.cancel();
    memory.stop();
    if (isRunning(child)) child.kill('SIGKILL');
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

/** All that belongs to the command. Its pid counts only while it runs, as it may be given away afterwards. */
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

/** Shells and many programs report a signal of a child as 128 + its number. */
const killedExitCode = 128 + constants.signals.SIGKILL;

function wasKilled({ exitCode, signalCode }: ChildProcess): boolean {
  return signalCode === 'SIGKILL' || exitCode === killedExitCode;
}

function outcome(
  reason: 'exit' | 'failure' | 'timeout' | 'stopped' | 'memory',
  { exitCode, signalCode: signal }: ChildProcess,
  killed: boolean,
  peakRssBytes: number | null,
): Outcome {
  const interrupted: Interrupted = { exitCode, signal, killed, peakRssBytes };
  if (reason === 'timeout') return { cause: 'timeout', ...interrupted };
  if (reason === 'memory') return { cause: 'out-of-memory', ...interrupted };
  if (reason === 'stopped') return { cause: 'stopped', ...interrupted };
  if (exitCode !== null) return { cause: 'exited', exitCode, peakRssBytes };
  if (signal !== null) return { cause: 'signalled', signal, peakRssBytes };
  throw new Error('a process ended with neither an exit code nor a signal');
}
