import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { thisHost } from '../../host/this-host.ts';
import { hideFolders } from '../../onnx/measure/session/hide-folders.ts';
import type { RawTensor } from '../protocol/datatypes.ts';
import { afterRunning } from './after-running.ts';
import {
  type Frame,
  FrameReader,
  frameParts,
  type RunTask,
  SessionAnswer,
  type SessionTask,
} from './frames.ts';
import { RefusedByRuntimeError, SessionEndedError, SessionGoneError } from './session-errors.ts';
import { sessionSandbox } from './session-sandbox.ts';

/** How a session's process is started. */
export interface SessionLaunch {
  /** Path of `session-program`. */
  program: string;
  memoryBytes: number;
  /** Milliseconds after which a run is ended, while this process runs. Opening a model may take as long. */
  timeLimit: number;
  /** Folders of the service that the process must not see. */
  hidden: readonly string[];
}

interface Pending {
  task: SessionTask;
  body: readonly Uint8Array[];
  answer: PromiseWithResolvers<RawTensor[]>;
}

/**
 * A process that runs one model, one request after the other. Native code can crash or hang; then this process ends,
 * the running request fails with the reason, and the waiting ones are told to ask another process.
 */
export class SessionProcess {
  readonly #child: ChildProcess;
  readonly #launch: SessionLaunch;
  readonly #folder: string;
  readonly #input: Writable;
  readonly #pending: Pending[] = [];
  /** Number of the first pending tasks that were sent. */
  #sent = 0;
  #stopTimer: (() => void) | undefined;
  #watch: NodeJS.Timeout | undefined;
  #printed = '';
  #reason: string | undefined;
  #hasEnded = false;

  private constructor(
    child: ChildProcess,
    input: Writable,
    output: Readable,
    launch: SessionLaunch,
    folder: string,
  ) {
    this.#child = child;
    this.#launch = launch;
    this.#folder = folder;
    this.#input = input;
    const reader = new FrameReader((frame) => this.#hear(frame));
    output.on('data', (piece: Buffer) => reader.add(piece));
    output.on('error', () => {});
    input.on('error', () => {});
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#printed = (this.#printed + text).slice(-maxPrinted);
    });
    child.once('close', () => this.#close());
    this.#watchMemory();
    // Idle processes must not keep this one running. A request holds a timer.
    child.unref();
    for (const pipe of [input, output, child.stderr]) if (pipe !== null && 'unref' in pipe) unref(pipe);
  }

  /**
   * Start a process and open a model in it.
   * @throws RefusedByRuntimeError if ONNX Runtime refuses the model
   * @throws SessionEndedError if the process crashes or takes too long
   */
  static async open(path: string, launch: SessionLaunch): Promise<SessionProcess> {
    const cwd = dirname(path);
    const { user, sandbox, release } = await sessionSandbox(launch.program, cwd, launch.hidden);
    const bound = thisHost.boundToParent(process.execPath, ['--max-semi-space-size=4', launch.program]);
    const [program = '', ...args] = await thisHost.withMemoryLimit(
      [bound.file, ...bound.args],
      launch.memoryBytes + reservedBytes,
    );
    // No other variables: the process has no credentials. Lambda's Node finds its libraries by this one.
    const { LD_LIBRARY_PATH } = process.env;
    const env = {
      LANG: 'C.UTF-8',
      ...(LD_LIBRARY_PATH !== undefined && { LD_LIBRARY_PATH }),
      ...thisHost.variables,
    };
    const { options, isWaiter, ...order } = await thisHost.launchAs({
      user,
      program,
      args,
      env,
      cwd,
      sandbox,
    });
    const waiter = isWaiter ? thisHost.boundToParent(order.file, order.args) : order;
    const child = spawn(waiter.file, waiter.args, {
      ...options,
      cwd,
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    });
    child.once('close', () => void release().catch(() => undefined));
    await once(child, 'spawn');
    const output = child.stdio[3];
    if (child.stdin === null || !(output instanceof Readable)) throw new Error('a session has no pipes');
    const session = new SessionProcess(child, child.stdin, output, launch, dirname(path));
    try {
      await session.#ask({ kind: 'open', path }, []);
    } catch (error) {
      session.end();
      throw error;
    }
    return session;
  }

  /** Whether it accepts no more requests. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get isIdle(): boolean {
    return this.#pending.length === 0;
  }

  /** Number of requests that run or wait. */
  get load(): number {
    return this.#pending.length;
  }

  /**
   * Run the model. With settings its inputs are texts or pictures. @throws RefusedByRuntimeError if an operator fails on these values
   * @throws SessionEndedError if this request ended the process
   * @throws SessionGoneError if another one did, or a kill from outside
   */
  run(
    inputs: readonly RawTensor[],
    outputs: readonly string[],
    settings: Pick<RunTask, 'texts' | 'images'> = {},
  ): Promise<RawTensor[]> {
    const described = inputs.map(({ name, datatype, shape, bytes }) => ({
      name,
      datatype,
      shape: [...shape],
      bytes: bytes.length,
    }));
    const task: SessionTask = {
      kind: 'run',
      inputs: described,
      outputs: [...outputs],
      ...settings,
    };
    return this.#ask(
      task,
      inputs.map(({ bytes }) => bytes),
    );
  }

  /** End the process. Requests that wait in it are told to ask another one. */
  end(): void {
    this.#hasEnded = true;
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }

  #ask(task: SessionTask, body: readonly Uint8Array[]): Promise<RawTensor[]> {
    if (this.#hasEnded) return Promise.reject(new SessionGoneError('the process has ended'));
    const answer = Promise.withResolvers<RawTensor[]>();
    this.#pending.push({ task, body, answer });
    this.#send();
    return answer.promise;
  }

  /**
   * Send waiting tasks. The process runs them one after the other, so a crash has one cause: the first one. The next one
   * waits in the pipe, so the process need not wait for it.
   */
  #send(): void {
    for (; this.#sent < Math.min(this.#pending.length, maxSent); this.#sent += 1) {
      const next = this.#pending[this.#sent];
      if (next === undefined) return;
      if (this.#sent === 0) this.#startTimer();
      this.#input.cork();
      for (const part of frameParts(next.task, next.body)) this.#input.write(part);
      this.#input.uncork();
    }
  }

  #startTimer(): void {
    const { timeLimit } = this.#launch;
    this.#stopTimer = afterRunning(timeLimit, () => {
      this.#reason = `It took longer than ${timeLimit / 1000} s`;
      this.end();
    });
  }

  #hear({ header, body }: Frame): void {
    const first = this.#pending.shift();
    if (first === undefined) return;
    this.#stopTimer?.();
    this.#sent -= 1;
    if (this.#sent > 0) this.#startTimer();
    this.#send();
    const answer = SessionAnswer.safeParse(header);
    if (!answer.success) {
      first.answer.reject(new SessionEndedError('its process answered something else than tensors'));
      this.end();
    } else if ('fault' in answer.data) {
      first.answer.reject(new RefusedByRuntimeError(answer.data.fault));
    } else {
      let at = 0;
      const tensors = answer.data.outputs.map(({ bytes: length, ...tensor }) => {
        const bytes = body.subarray(at, at + length);
        at += length;
        return { ...tensor, bytes };
      });
      first.answer.resolve(tensors);
    }
  }

  #close(): void {
    this.#hasEnded = true;
    this.#stopTimer?.();
    clearTimeout(this.#watch);
    const [first, ...others] = this.#pending.splice(0);
    first?.answer.reject(
      this.#wasKilled
        ? new SessionGoneError('the process was killed')
        : new SessionEndedError(this.#describeEnd()),
    );
    for (const { answer } of others) answer.reject(new SessionGoneError('the process has ended'));
  }

  /**
   * Whether something else than this service and the model ended it: a host out of memory, an operator. Native code that
   * crashes ends by another signal. The request is no cause, so another process can answer it.
   */
  get #wasKilled(): boolean {
    const { exitCode, signalCode } = this.#child;
    const isKill =
      signalCode === 'SIGKILL' || signalCode === 'SIGTERM' || exitCode === 137 || exitCode === 143;
    return isKill && this.#reason === undefined;
  }

  #describeEnd(): string {
    if (this.#reason !== undefined) return this.#reason;
    const { exitCode, signalCode } = this.#child;
    const how = signalCode === null ? `exit code ${exitCode}` : `${signalCode}`;
    const lines = this.#printed.trim().split('\n').slice(-3).join(' ').slice(-300);
    const hidden = hideFolders(lines, [this.#folder, dirname(this.#launch.program)]);
    return `It ended the process of ONNX Runtime (${how})${hidden === '' ? '' : `: ${hidden}`}`;
  }

  /** The kernel bounds the address space; the resident memory is measured. */
  #watchMemory(): void {
    const { pid } = this.#child;
    this.#watch = setTimeout(async () => {
      const memory = pid === undefined ? null : await thisHost.memoryWithChildren(pid);
      if (this.#hasEnded) return;
      if ((memory?.now ?? 0) > this.#launch.memoryBytes) {
        const most = Math.round(this.#launch.memoryBytes / 2 ** 20);
        this.#reason = `It took more than the ${most} MiB of memory available to it`;
        this.end();
      } else this.#watchMemory();
    }, watchMilliseconds);
    this.#watch.unref();
  }
}

/** Address space that Node reserves and never touches, and the libraries. */
const reservedBytes = 2 ** 31;

/** Tasks in a process: one runs, one waits in its pipe. */
const maxSent = 2;

const maxPrinted = 2_000;

const watchMilliseconds = 500;

/** Sockets can be taken off the event loop; the types of streams do not say so. */
const unref = (pipe: object): void => {
  if ('unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
};
