import type { ChildProcess } from 'node:child_process';
import { dirname, isAbsolute } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { tryParseJson } from '../../../core/text/try-parse-json.ts';
import type { Sandbox } from '../../../host/host.ts';
import { extendedFlag } from '../../measure/session/extended-flag.ts';
import { hideFolders } from '../../measure/session/hide-folders.ts';
import { sessionFlag } from '../../measure/session/session-flag.ts';
import { type StageAnswer, stageAnswers } from '../../measure/session/stage-answers.ts';
import { type StageKind, StageLine, type StageTask, type TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';
import { type Bounds, endGroup, watchBounds } from './stage-bounds.ts';
import { launchStage, type StageUser, stageFolders } from './stage-launch.ts';

/** Options for running stages. */
export interface StageOptions {
  /** Command line of a program that calls `runStage`. The program is an absolute path. */
  command: readonly string[];
  user: StageUser | undefined;
  /** Working folder, also for temporary files. */
  folder: string;
  /** Sandbox of the stages. By default they see the whole machine. */
  sandbox?: Sandbox | undefined;
  bounds: Bounds;
  /** Whether sessions use ONNX Runtime's `extended` graph optimizations instead of `all`. */
  isExtended?: boolean;
  /** Whether the first stages open sessions. */
  opensSessions?: boolean;
  say(line: string): void;
  signal: AbortSignal;
}

export interface StageOutcome<K extends StageKind> {
  answer: StageAnswer<K>;
  seconds: number;
  peakMemoryBytes: number;
}

/** Name of a stage in error messages. */
const doing: Readonly<Record<StageKind, string>> = {
  read: 'reading the model',
  calibrate: 'running the model for its calibration',
  transform: 'transforming the model',
  probe: 'running the model on generated inputs',
  raise: 'raising the operator set',
  open: 'opening and running the model',
  compare: 'running the model and its result',
  time: 'timing the model and its result',
  race: 'timing the models',
  size: 'measuring the files',
  check: 'checking the layers',
};

/** Characters of a stage's output kept for its error message. */
const maxPrinted = 4000;
/** Maximum bytes of a stage's result. A runaway process must not fill this process's memory. */
const maxAnswered = 64 * 2 ** 20;

type LastLine = Extract<StageLine, { answer: unknown } | { fault: string }>;

/** Keep the end of a stage's output. */
function collectPrinted({ stderr }: ChildProcess): () => string {
  let printed = '';
  stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    printed = (printed + chunk).slice(-maxPrinted);
  });
  return () => printed.trim();
}

function crashed({ exitCode, signalCode }: ChildProcess, what: string, printed: string): ModelError {
  const how = signalCode === null ? `ended with code ${exitCode}` : `was ended by ${signalCode}`;
  const why =
    printed === '' ? '' : ` It printed last: ${printed.split('\n').slice(-3).join(' ').slice(-500)}`;
  const message = `The process crashed while ${what} (it ${how}).${why}`;
  // The system kills a process that uses too much memory. This process kills one that answers endlessly.
  return signalCode === 'SIGKILL' ? new ModelError(message) : new StageCrashError(message);
}

/** A process that runs stages one after the other. It ends when a stage fails. */
export class StageProcess {
  readonly #options: StageOptions;
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  readonly #lines: AsyncIterator<string>;
  readonly #printed: () => string;
  /** Bytes of answers since the last task. */
  #answered = 0;
  #hasEnded = false;

  private constructor(options: StageOptions, child: ChildProcess, pipe: Readable) {
    this.#options = options;
    this.#child = child;
    this.#closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    this.#printed = collectPrinted(child);
    pipe.on('data', (chunk: Buffer) => {
      this.#answered += chunk.length;
      if (this.#answered > maxAnswered) endGroup(child);
    });
    pipe.on('error', () => {});
    child.stdin?.on('error', () => {});
    this.#lines = createInterface({ input: pipe })[Symbol.asyncIterator]();
    // A process counts as closed only when its pipes are empty.
    child.once('exit', () => pipe.resume());
  }

  static async start(options: StageOptions): Promise<StageProcess> {
    options.signal.throwIfAborted();
    const { user, folder, sandbox, bounds, isExtended = false, opensSessions = false } = options;
    const flags = [...(isExtended ? [extendedFlag] : []), ...(opensSessions ? [sessionFlag] : [])];
    const command = [...options.command, ...flags];
    const child = await launchStage({ command, user, folder, sandbox, memoryBytes: bounds.memoryBytes });
    const pipe = child.stdio[3];
    if (!(pipe instanceof Readable)) throw new Error('a stage has no pipe for its answers');
    return new StageProcess(options, child, pipe);
  }

  /** Whether it accepts no further task. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** End the process, even during a stage. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    endGroup(this.#child);
    await this.#closed;
  }

  /** Read messages until a result; undefined if the process ended without one. */
  async #lastLine(heard: (line: StageLine) => void): Promise<LastLine | undefined> {
    for (;;) {
      const { value: text, done } = await this.#lines.next();
      if (done === true) return undefined;
      // A process may be killed in the middle of a line.
      const line = StageLine.safeParse(tryParseJson(text)).data;
      if (line === undefined) continue;
      if ('answer' in line || 'fault' in line) return line;
      heard(line);
    }
  }

  #send(task: StageTask, isLast: boolean): void {
    this.#answered = 0;
    this.#child.stdin?.write(`${JSON.stringify(task)}\n`);
    if (isLast) this.#child.stdin?.end();
  }

  /** Return the answer of a last line. @throws ModelError for a fault */
  #answerOf<K extends StageKind>(kind: K, last: LastLine, hidden: (text: string) => string): StageAnswer<K> {
    if ('fault' in last) {
      if (last.stack === undefined) throw new ModelError(hidden(last.fault));
      this.#options.say(last.stack);
      throw new ModelError(`While ${doing[kind]}: ${hidden(last.fault)}`);
    }
    const parsed = stageAnswers[kind].safeParse(last.answer);
    if (!parsed.success) {
      this.#options.say(parsed.error.message);
      throw new ModelError(`The response of the process cannot be read, while ${doing[kind]}.`);
    }
    // The cast holds: the schema of this kind has just checked the answer.
    return parsed.data as StageAnswer<K>;
  }

  /**
   * Run a stage to its end, for at most `seconds` if they are fewer than its bounds allow. The process ends after
   * the last stage.
   *
   * @throws ModelError if the stage reported one, crashed, or exceeded its memory or time; the signal's reason if
   * it was aborted. The process has then ended.
   */
  async run<K extends StageKind>(
    task: TaskOf<K>,
    progress: (fraction: number, bytes?: number) => void,
    isLast: boolean,
    seconds = Number.POSITIVE_INFINITY,
  ): Promise<StageOutcome<K>> {
    const { command, folder, signal, say } = this.#options;
    const own = this.#options.bounds;
    const bounds = { ...own, seconds: Math.min(own.seconds, Math.ceil(seconds)) };
    const kind: K = task.kind;
    // A short stage could end before a timer of zero seconds.
    if (bounds.seconds <= 0) {
      await this.end();
      throw new ModelError(`No time was left for ${doing[kind]}.`);
    }
    const programs = command.filter((part) => isAbsolute(part)).map((part) => dirname(part));
    const hidden = (text: string): string => hideFolders(text, [folder, ...stageFolders(task), ...programs]);
    const started = performance.now();
    const watch = watchBounds(this.#child, bounds, signal);
    let isWell = false;
    try {
      this.#send(task, isLast);
      const last = await this.#lastLine((line) => {
        if ('progress' in line) progress(line.progress, line.bytes);
        else if ('say' in line) say(line.say);
      });
      // The last line completes a stage. The exit may hang, because Node waits for threads that wait for Node.
      if (isLast || last === undefined || 'fault' in last) await this.end();
      signal.throwIfAborted();
      const exceeded = watch.exceeded();
      if (exceeded !== undefined) throw new ModelError(`${exceeded}, while ${doing[kind]}.`);
      if (last === undefined) throw crashed(this.#child, doing[kind], hidden(this.#printed()));
      const answer = this.#answerOf(kind, last, hidden);
      const taken = (performance.now() - started) / 1000;
      isWell = true;
      const ownPeak = 'peak_memory_bytes' in last ? last.peak_memory_bytes : 0;
      return { answer, seconds: taken, peakMemoryBytes: Math.max(ownPeak, watch.peak()) };
    } finally {
      watch.stop();
      if (!isWell) await this.end();
    }
  }
}

/** A stage's process ended without an answer, for example by a crash of native code. */
export class StageCrashError extends ModelError {}
