import type { ChildProcess } from 'node:child_process';
import { dirname, isAbsolute } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { Sandbox } from '../../process/sandbox.ts';
import { hideFolders } from '../hide-folders.ts';
import { ModelError } from '../model-error.ts';
import { type StageAnswer, stageAnswers } from '../stage-task/stage-answers.ts';
import { type StageKind, StageLine, type TaskOf } from '../stage-task/stage-task.ts';
import { type Bounds, endGroup, watchBounds } from './stage-bounds.ts';
import { stageFolders } from './stage-folders.ts';
import { launchStage, type StageUser } from './stage-launch.ts';

/** Where and how stages are run. */
export interface StageOptions {
  /** Command line of a program that calls `runStage`, its program by absolute path. */
  command: readonly string[];
  user: StageUser | undefined;
  /** Working folder; temporary files go there, too. */
  folder: string;
  /** Sandbox of the stages; by default they see the whole machine. */
  sandbox?: Sandbox | undefined;
  bounds: Bounds;
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
  compare: 'running the model and its result',
  time: 'timing the model and its result',
  size: 'measuring the files',
  check: 'checking the layers',
};

/** Characters of a stage's output that are kept for its error message. */
const printedMost = 4000;
/** Largest result of a stage: a runaway process must not fill our memory. */
const answeredMost = 64 * 2 ** 20;

type LastLine = Extract<StageLine, { answer: unknown } | { fault: string }>;

/** Keeps the end of a stage's output. */
function collectPrinted({ stderr }: ChildProcess): () => string {
  let printed = '';
  stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    printed = (printed + chunk).slice(-printedMost);
  });
  return () => printed.trim();
}

/** Read the messages of a stage up to its result; undefined where it ended without one. */
async function readAnswers(
  child: ChildProcess,
  heard: (line: StageLine) => void,
): Promise<LastLine | undefined> {
  const pipe = child.stdio[3];
  if (!(pipe instanceof Readable)) throw new Error('a stage has no pipe for its answers');
  let bytes = 0;
  pipe.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > answeredMost) endGroup(child);
  });
  pipe.on('error', () => {});
  try {
    for await (const text of createInterface({ input: pipe })) {
      const line = parseLine(text);
      if (line === undefined) continue;
      if ('answer' in line || 'fault' in line) return line;
      heard(line);
    }
    return undefined;
  } finally {
    // A process counts as closed only when nothing is left in its pipes.
    pipe.resume();
  }
}

/** A process that was killed may leave half a line. */
function parseLine(text: string): StageLine | undefined {
  try {
    return StageLine.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function crashed({ exitCode, signalCode }: ChildProcess, what: string, printed: string): ModelError {
  const how = signalCode === null ? `ended with code ${exitCode}` : `was ended by ${signalCode}`;
  const why =
    printed === '' ? '' : ` It printed last: ${printed.split('\n').slice(-3).join(' ').slice(-500)}`;
  return new ModelError(`The process crashed while ${what} (it ${how}).${why}`);
}

/**
 * Runs a stage in a process of its own, to its end, and leaves nothing of it behind.
 *
 * @throws ModelError where the stage found one, crashed, or went beyond its memory or time; the reason of `signal`
 *   when that was aborted
 */
export async function startStage<K extends StageKind>(
  options: StageOptions,
  task: TaskOf<K>,
  progress: (fraction: number, bytes?: number) => void = () => {},
): Promise<StageOutcome<K>> {
  options.signal.throwIfAborted();
  const kind: K = task.kind;
  const programs = options.command.filter((part) => isAbsolute(part)).map((part) => dirname(part));
  const hidden = (text: string): string =>
    hideFolders(text, [options.folder, ...stageFolders(task), ...programs]);
  const started = performance.now();
  const child = await launchStage({
    command: options.command,
    user: options.user,
    folder: options.folder,
    sandbox: options.sandbox,
    memoryBytes: options.bounds.memoryBytes,
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const watch = watchBounds(child, options.bounds, options.signal);
  try {
    const printed = collectPrinted(child);
    child.stdin?.on('error', () => {}).end(JSON.stringify(task));
    const last = await readAnswers(child, (line) => {
      if ('progress' in line) progress(line.progress, line.bytes);
      else if ('say' in line) options.say(line.say);
    });
    // With its last line a stage has done everything. Its exit may hang: Node waits there for threads that wait for it.
    if (last !== undefined) endGroup(child);
    await closed;
    options.signal.throwIfAborted();
    const exceeded = watch.exceeded();
    if (exceeded !== undefined) throw new ModelError(`${exceeded}, while ${doing[kind]}.`);
    if (last === undefined) throw crashed(child, doing[kind], hidden(printed()));
    if ('fault' in last) {
      if (last.stack === undefined) throw new ModelError(hidden(last.fault));
      options.say(last.stack);
      throw new ModelError(`While ${doing[kind]}: ${hidden(last.fault)}`);
    }
    const parsed = stageAnswers[kind].safeParse(last.answer);
    if (!parsed.success) {
      options.say(parsed.error.message);
      throw new ModelError(`What the process answered cannot be read, while ${doing[kind]}.`);
    }
    // The schema of this kind has just checked it.
    const answer = parsed.data as StageAnswer<K>;
    const seconds = (performance.now() - started) / 1000;
    return { answer, seconds, peakMemoryBytes: Math.max(last.peak_memory_bytes, watch.peak()) };
  } finally {
    watch.stop();
    endGroup(child);
    await closed;
  }
}
