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

/** A process, which may still be starting. */
type Started = Promise<StageProcess>;

/** Which processes run stages of a kind: a session of ONNX Runtime can end its process. */
type Kind = 'plain' | 'session';
/** Stages that run what was made, in sessions whose optimizations can be fewer. */
const resultStages: readonly StageKind[] = ['open', 'compare', 'time', 'race', 'check'];

const kindOf = (stage: StageKind): Kind =>
  stage === 'read' || stage === 'raise' || stage === 'transform' || stage === 'size' ? 'plain' : 'session';

const extendedWarning =
  'ONNX Runtime crashed with all its graph optimizations, so both models were run with the extended ones. Open the result so, too: graph_optimization_level is ORT_ENABLE_EXTENDED.';

interface StageLogOptions {
  /** Whether processes are kept for further stages: each holds memory of its last one for a while. */
  areKept: boolean;
  /**
   * Whether a stage of the result whose process crashes is run again with the extended optimizations of graphs, and all
   * after it: the last ones of ONNX Runtime crash on some valid models.
   */
  fallsBack: boolean;
  /**
   * Whether a stage crashes for good with a result, where the model that it was made of runs: who uses the result would
   * meet the crash, too.
   */
  refusesResults?: boolean;
}

/** The model that a result was made of, and what both are fed. */
interface Origin {
  before: string;
  feed: Feed;
}

/** The origin of what a task runs; undefined where it does not tell. */
function originOf(task: TaskOf<StageKind>): Origin | undefined {
  if (task.kind === 'open') return task.trial;
  return task.kind === 'compare' || task.kind === 'time'
    ? { before: task.before, feed: task.feed }
    : undefined;
}

/**
 * Runs the stages of one optimization and records their time and memory. A process takes one stage after the other, for
 * to start one takes as long as to quantize a small model.
 */
export class StageLog {
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

  #start(): Started {
    const started = StageProcess.start({ ...this.#options, isExtended: this.#isExtended });
    // Whoever takes it hears of an error.
    started.catch(() => {});
    this.#all.push(started);
    return started;
  }

  /** A process for a stage: one that is idle, or else a new one. */
  async #take(kind: Kind): Promise<StageProcess> {
    for (;;) {
      const process = await (this.#idle[kind].pop() ?? this.#start());
      if (!process.hasEnded) return process;
    }
  }

  /** Starts the process of the first session, so that it is there when the stages before it are done. */
  prepareSession(): void {
    if (this.#areKept) this.#idle.session.push(this.#start());
  }

  /** Opens a session of a model in the process that was prepared, beside the stages before the first session. */
  prepareModel(model: string): void {
    const started = this.#idle.session.pop();
    if (started === undefined) return;
    const opened = started.then(async (process) => {
      // An error here ends the process, and comes again with the stage that needs the session.
      await process.run<'open'>({ kind: 'open', model }, () => {}, false).catch(() => {});
      return process;
    });
    opened.catch(() => {});
    this.#idle.session.push(opened);
  }

  /** Runs a stage. Repetitions under one name add up their time, and the largest peak counts. */
  async run<K extends StageKind>(name: string, task: TaskOf<K>): Promise<StageAnswer<K>> {
    this.#progress(name, 0);
    // In the order in which they begin, also where two run side by side.
    if (!this.#records.has(name)) this.#records.set(name, { name, seconds: 0, peak_memory_bytes: 0 });
    const outcome = await this.#runOnce(name, task).catch(async (error: unknown) => {
      if (!this.#mayFallBack(task.kind, error)) throw error;
      await this.#requireOldCrash(name, task, error);
      this.#isExtended = true;
      // The sessions of these have all optimizations.
      this.#idle.session.length = 0;
      return this.#runOnce(name, task);
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

  async #runOnce<K extends StageKind>(name: string, task: TaskOf<K>): Promise<StageOutcome<K>> {
    const kind = kindOf(task.kind);
    const process = await this.#take(kind);
    const report = (fraction: number, bytes?: number) => this.#progress(name, fraction, bytes);
    const outcome = await process.run<K>(task, report, !this.#areKept);
    if (!process.hasEnded) this.#idle[kind].push(Promise.resolve(process));
    return outcome;
  }

  /** Refuses a result that crashes where its model does not. */
  async #requireOldCrash(name: string, task: TaskOf<StageKind>, error: unknown): Promise<void> {
    const origin = this.#refusesResults ? originOf(task) : undefined;
    if (origin === undefined || !(error instanceof ModelError)) return;
    const { before, feed } = origin;
    const own = await this.#runOnce(name, { kind: 'open', model: before, trial: { before, feed } }).catch(
      (fault: unknown) => fault,
    );
    if (own instanceof StageCrashError) return;
    throw new ModelError(
      `ONNX Runtime crashes with the result, and not with the model, at its usual optimizations of graphs. Nothing was written; exclude the operators that cause it, or choose another strategy. ${error.message}`,
    );
  }

  #mayFallBack(stage: StageKind, error: unknown): boolean {
    const isFirst = this.#fallsBack && !this.#isExtended;
    return isFirst && error instanceof StageCrashError && resultStages.includes(stage);
  }

  /** Ends every process, also of a stage that still runs because another one beside it failed. */
  async end(): Promise<void> {
    const started = await Promise.allSettled(this.#all);
    const processes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await Promise.all(processes.filter(({ hasEnded }) => !hasEnded).map((process) => process.end()));
  }

  get warnings(): string[] {
    return this.#isExtended ? [extendedWarning] : [];
  }

  /** In the order in which they first ran. */
  get records(): StageRecord[] {
    return [...this.#records.values()];
  }
}
