import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { Feed, StageKind, TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import {
  StageCrashError,
  type StageOptions,
  type StageOutcome,
  StageProcess,
} from '../process/stage-process.ts';

type StageRecord = Receipt['stages'][number];

/** A process that may still be starting. */
type Started = Promise<StageProcess>;

/**
 * Kinds of processes. Stages with a session have their own, because a session of ONNX Runtime can crash its
 * process.
 */
type Kind = 'plain' | 'session';
/** Stages that run the result. Their sessions may use fewer optimizations. */
const resultStages: readonly StageKind[] = ['open', 'compare', 'time', 'race', 'check'];

const kindOf = (stage: StageKind): Kind =>
  stage === 'read' || stage === 'raise' || stage === 'transform' || stage === 'size' ? 'plain' : 'session';

const extendedWarning =
  'ONNX Runtime crashed with all its graph optimizations, so both models were run with the extended ones. Load the result with graph_optimization_level = ORT_ENABLE_EXTENDED too.';

interface StageLogOptions {
  /** Whether processes are kept for further stages. A kept process holds memory of its last stage for a while. */
  areKept: boolean;
  /**
   * Whether a crashed stage of the result runs again with the `extended` graph optimizations, as do all stages
   * after it. The last optimizations of ONNX Runtime crash on some valid models.
   */
  fallsBack: boolean;
  /**
   * Whether a stage is refused if its result crashes although the original model does not. Users of such a result
   * would meet the crash too.
   */
  refusesResults?: boolean;
}

/** The original model of a result, and the feed of both. */
interface Origin {
  before: string;
  feed: Feed;
}

/** Return the origin of the model that a task runs; undefined if the task does not name it. */
function originOf(task: TaskOf<StageKind>): Origin | undefined {
  if (task.kind === 'open') return task.trial;
  return task.kind === 'compare' || task.kind === 'time'
    ? { before: task.before, feed: task.feed }
    : undefined;
}

/**
 * Runs the stages of one optimization and records their time and memory. Reuses processes, because starting one
 * takes as long as quantizing a small model.
 */
export class StageRunner {
  readonly #options: StageOptions;
  readonly #progress: (stage: string, fraction: number, bytes?: number) => void;
  readonly #records = new Map<string, StageRecord>();
  readonly #idle: Record<Kind, Started[]> = { plain: [], session: [] };
  readonly #all: Started[] = [];
  readonly #areKept: boolean;
  readonly #fallsBack: boolean;
  readonly #refusesResults: boolean;
  #isExtended = false;

  constructor(
    options: StageOptions,
    progress: (stage: string, fraction: number, bytes?: number) => void,
    { areKept, fallsBack, refusesResults = false }: StageLogOptions,
  ) {
    this.#options = options;
    this.#progress = progress;
    this.#areKept = areKept;
    this.#fallsBack = fallsBack;
    this.#refusesResults = refusesResults;
  }

  #start(opensSessions = false): Started {
    const options = { ...this.#options, isExtended: this.#isExtended, opensSessions };
    const started = StageProcess.start(options);
    // The stage that takes the process receives the error.
    started.catch(() => {});
    this.#all.push(started);
    return started;
  }

  /** Return an idle process for a stage, or start a new one. */
  async #take(kind: Kind): Promise<StageProcess> {
    for (;;) {
      const process = await (this.#idle[kind].pop() ?? this.#start());
      if (!process.hasEnded) return process;
    }
  }

  /** Start the process of the first session early, in parallel to the stages before it. */
  prepareSession(): void {
    if (this.#areKept) this.#idle.session.push(this.#start(true));
  }

  /** Open a session of a model in the prepared process, in parallel to the stages before the first session. */
  prepareModel(model: string): void {
    const started = this.#idle.session.pop();
    if (started === undefined) return;
    const opened = started.then(async (process) => {
      // An error here ends the process. It occurs again in the stage that needs the session.
      await process.run<'open'>({ kind: 'open', model }, () => {}, false).catch(() => {});
      return process;
    });
    opened.catch(() => {});
    this.#idle.session.push(opened);
  }

  /**
   * Run a stage, for at most `seconds` if they are given. Stages of the same name add up their time, and their
   * largest peak counts.
   */
  async run<K extends StageKind>(name: string, task: TaskOf<K>, seconds?: number): Promise<StageAnswer<K>> {
    this.#progress(name, 0);
    // Record stages in the order of their start, also if two run in parallel.
    if (!this.#records.has(name)) this.#records.set(name, { name, seconds: 0, peak_memory_bytes: 0 });
    const outcome = await this.#runOnce(name, task, seconds).catch(async (error: unknown) => {
      if (!this.#mayFallBack(task.kind, error)) throw error;
      await this.#requireOldCrash(name, task, error);
      this.#isExtended = true;
      // Idle sessions use the `all` optimizations.
      this.#idle.session.length = 0;
      return this.#runOnce(name, task, seconds);
    });
    const earlier = this.#records.get(name);
    this.#records.set(name, {
      name,
      seconds: (earlier?.seconds ?? 0) + outcome.seconds,
      peak_memory_bytes: Math.max(earlier?.peak_memory_bytes ?? 0, outcome.peakMemoryBytes),
    });
    this.#progress(name, 1);
    return outcome.answer;
  }

  async #runOnce<K extends StageKind>(
    name: string,
    task: TaskOf<K>,
    seconds?: number,
  ): Promise<StageOutcome<K>> {
    const kind = kindOf(task.kind);
    const process = await this.#take(kind);
    const report = (fraction: number, bytes?: number) => this.#progress(name, fraction, bytes);
    const outcome = await process.run<K>(task, report, !this.#areKept, seconds);
    if (!process.hasEnded) this.#idle[kind].push(Promise.resolve(process));
    return outcome;
  }

  /** Refuse a result that crashes if its model does not. */
  async #requireOldCrash(name: string, task: TaskOf<StageKind>, error: unknown): Promise<void> {
    const origin = this.#refusesResults ? originOf(task) : undefined;
    if (origin === undefined || !(error instanceof ModelError)) return;
    const { before, feed } = origin;
    const own = await this.#runOnce(name, { kind: 'open', model: before, trial: { before, feed } }).catch(
      (fault: unknown) => fault,
    );
    if (own instanceof StageCrashError) return;
    throw new ModelError(
      `ONNX Runtime crashes with the result, but not with the model, at its default graph optimizations. Nothing was written; exclude the operators that cause it, or choose another strategy. ${error.message}`,
    );
  }

  #mayFallBack(stage: StageKind, error: unknown): boolean {
    const isFirst = this.#fallsBack && !this.#isExtended;
    return isFirst && error instanceof StageCrashError && resultStages.includes(stage);
  }

  /** End every process, including those of stages that still run because a parallel stage failed. */
  async end(): Promise<void> {
    const started = await Promise.allSettled(this.#all);
    const processes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await Promise.all(processes.filter(({ hasEnded }) => !hasEnded).map((process) => process.end()));
  }

  get warnings(): string[] {
    return this.#isExtended ? [extendedWarning] : [];
  }

  /** Records of the stages, in the order of their first run. */
  get records(): StageRecord[] {
    return [...this.#records.values()];
  }
}
