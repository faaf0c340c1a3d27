import type { Receipt } from '../receipt/receipt.ts';
import { type StageOptions, StageProcess } from '../stage/stage-process.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import type { StageKind, TaskOf } from '../stage-task/stage-task.ts';

type StageRecord = Receipt['stages'][number];

/** Which processes run stages of a kind: a session of ONNX Runtime can end its process. */
const runsSession = (kind: StageKind): boolean => kind !== 'read' && kind !== 'transform' && kind !== 'size';

/**
 * Runs the stages of one optimization and records their time and memory. A process takes one stage after the other, for
 * to start one takes as long as to quantize a small model.
 */
export class StageLog {
  readonly #options: StageOptions;
  readonly #progress: (stage: string, fraction: number, bytes?: number) => void;
  readonly #records = new Map<string, StageRecord>();
  readonly #idle: { plain: StageProcess[]; session: StageProcess[] } = { plain: [], session: [] };
  readonly #all = new Set<StageProcess>();
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

  /** Runs a stage. Repetitions under one name add up their time, and the largest peak counts. */
  async run<K extends StageKind>(name: string, task: TaskOf<K>): Promise<StageAnswer<K>> {
    this.#progress(name, 0);
    // In the order in which they begin, also where two run side by side.
    if (!this.#records.has(name)) this.#records.set(name, { name, seconds: 0, peak_memory_bytes: 0 });
    const idle = this.#idle[runsSession(task.kind) ? 'session' : 'plain'];
    const process = idle.pop() ?? (await StageProcess.start(this.#options));
    this.#all.add(process);
    const report = (fraction: number, bytes?: number) => this.#progress(name, fraction, bytes);
    const outcome = await process.run<K>(task, report, !this.#areKept);
    if (process.hasEnded) this.#all.delete(process);
    else idle.push(process);
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
    await Promise.all([...this.#all].map(async (process) => process.end()));
  }

  /** In the order in which they first ran. */
  get records(): StageRecord[] {
    return [...this.#records.values()];
  }
}
