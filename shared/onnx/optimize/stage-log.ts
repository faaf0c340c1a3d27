import type { Receipt } from '../receipt/receipt.ts';
import { type StageOptions, StageProcess } from '../stage/stage-process.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import type { StageKind, TaskOf } from '../stage-task/stage-task.ts';

type StageRecord = Receipt['stages'][number];

/** A process, which may still be starting. */
type Started = Promise<StageProcess>;

/** Which processes run stages of a kind: a session of ONNX Runtime can end its process. */
type Kind = 'plain' | 'session';
const kindOf = (stage: StageKind): Kind =>
  stage === 'read' || stage === 'transform' || stage === 'size' ? 'plain' : 'session';

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

  /** @param areKept whether processes are kept for further stages: each holds memory of its last one for a while */
  constructor(
    options: StageOptions,
    progress: (stage: string, fraction: number, bytes?: number) => void,
    areKept: boolean,
  ) {
    this.#options = options;
    this.#progress = progress;
    this.#areKept = areKept;
  }

  #start(): Started {
    const started = StageProcess.start(this.#options);
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
    const kind = kindOf(task.kind);
    const process = await this.#take(kind);
    const report = (fraction: number, bytes?: number) => this.#progress(name, fraction, bytes);
    const outcome = await process.run<K>(task, report, !this.#areKept);
    if (!process.hasEnded) this.#idle[kind].push(Promise.resolve(process));
    const earlier = this.#records.get(name);
    this.#records.set(name, {
      name,
      seconds: (earlier?.seconds ?? 0) + outcome.seconds,
      peak_memory_bytes: Math.max(earlier?.peak_memory_bytes ?? 0, outcome.peakMemoryBytes),
    });
    this.#progress(name, 1);
    return outcome.answer;
  }

  /** Ends every process, also of a stage that still runs because another one beside it failed. */
  async end(): Promise<void> {
    const started = await Promise.allSettled(this.#all);
    const processes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await Promise.all(processes.filter(({ hasEnded }) => !hasEnded).map((process) => process.end()));
  }

  /** In the order in which they first ran. */
  get records(): StageRecord[] {
    return [...this.#records.values()];
  }
}
