import type { Receipt } from '../receipt/receipt.ts';
import { type StageOptions, startStage } from '../stage/start-stage.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import type { StageKind, TaskOf } from '../stage-task/stage-task.ts';

type StageRecord = Receipt['stages'][number];

/** Runs the stages of one optimization and records their time and memory. */
export class StageLog {
  readonly #options: StageOptions;
  readonly #progress: (stage: string, fraction: number, bytes?: number) => void;
  readonly #records = new Map<string, StageRecord>();

  constructor(options: StageOptions, progress: (stage: string, fraction: number, bytes?: number) => void) {
    this.#options = options;
    this.#progress = progress;
  }

  /** Runs a stage. Repetitions under one name add up their time, and the largest peak counts. */
  async run<K extends StageKind>(name: string, task: TaskOf<K>): Promise<StageAnswer<K>> {
    this.#progress(name, 0);
    // In the order in which they begin, also where two run side by side.
    if (!this.#records.has(name)) this.#records.set(name, { name, seconds: 0, peak_memory_bytes: 0 });
    const outcome = await startStage<K>(this.#options, task, (fraction, bytes) =>
      this.#progress(name, fraction, bytes),
    );
    const earlier = this.#records.get(name);
    this.#records.set(name, {
      name,
      seconds: (earlier?.seconds ?? 0) + outcome.seconds,
      peak_memory_bytes: Math.max(earlier?.peak_memory_bytes ?? 0, outcome.peakMemoryBytes),
    });
    this.#progress(name, 1);
    return outcome.answer;
  }

  /** In the order in which they first ran. */
  get records(): StageRecord[] {
    return [...this.#records.values()];
  }
}
