import { LogRecognizer } from '../printed-metrics/log-recognizer.ts';
import type { MetricRules } from '../printed-metrics/metric-rules.ts';
import type { PrintedMetrics } from '../printed-metrics/printed-metrics.ts';
import { FoundMetrics, type FoundMetricsOptions } from './found-metrics.ts';
import type { MetricSource } from './metric-source.ts';

export interface PrintedMetricsOptions extends Omit<FoundMetricsOptions, 'kind' | 'maxNames'> {
  now(): Date;
  /** Rules of the project. They replace what is recognized without any. */
  rules: MetricRules | undefined;
}

/** Takes the metrics that a program prints. */
export class PrintedMetricsSource {
  readonly #now: () => Date;
  readonly #source: MetricSource;
  readonly #found: FoundMetrics;
  readonly #rules: MetricRules | undefined;
  /** The last step of each name. */
  readonly #steps = new Map<string, number>();
  readonly #recognizers: Readonly<Record<'stdout' | 'stderr', LogRecognizer | MetricRules>>;

  constructor(options: PrintedMetricsOptions) {
    const { now, rules, source } = options;
    this.#now = now;
    this.#source = source;
    this.#rules = rules;
    this.#recognizers = { stdout: rules ?? new LogRecognizer(), stderr: rules ?? new LogRecognizer() };
    this.#found = new FoundMetrics({ ...options, kind: 'log', maxNames: 100 });
  }

  get warnings(): string[] {
    return [...(this.#rules?.warnings ?? []), ...this.#found.warnings];
  }

  /** Read lines of the program's output. */
  read(stream: 'stdout' | 'stderr', lines: readonly string[], chunk?: Buffer): void {
    if (this.#found.isEnded) return;
    for (const found of this.#recognizers[stream].readAll(lines, chunk)) this.#take(found);
    this.#found.release();
  }

  /** Whether a metric of this name was printed. */
  has(name: string): boolean {
    return this.#found.countOf(name) > 0;
  }

  /** Store what waits. Never rejects. */
  async close(): Promise<void> {
    for (const recognizer of Object.values(this.#recognizers))
      for (const found of recognizer.end()) this.#take(found);
    await this.#found.close();
  }

  #take({ step, isWithin = false, isOfTrial, values }: PrintedMetrics): void {
    if (isOfTrial) this.#source.hearTrial();
    const time = this.#now().getTime();
    for (const [name, value] of values)
      this.#found.take({ name, value, step: isOfTrial ? step : this.#stepOf(name, step, isWithin), time });
  }

  /**
   * The step of a name never falls, or its last value would not be the last: epochs begin anew with each fold, and lines
   * within an epoch, which are counted, stand beside lines of epochs.
   */
  #stepOf(name: string, step: number | null, isWithin: boolean): number | null {
    const last = this.#steps.get(name);
    const own = isWithin || step === null ? undefined : step;
    if (own === undefined && last === undefined && !isWithin) return null;
    const at = own !== undefined && own >= (last ?? 0) ? own : (last ?? -1) + 1;
    this.#steps.set(name, at);
    return at;
  }
}
