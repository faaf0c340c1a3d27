import { LogRecognizer } from '../log-metrics/log-recognizer.ts';
import type { PrintedMetrics } from '../log-metrics/printed-metrics.ts';
import { FoundMetrics, type FoundMetricsOptions } from './found-metrics.ts';

export interface LogMetricsOptions extends Omit<FoundMetricsOptions, 'kind' | 'maxNames'> {
  now(): Date;
}

/** Takes the metrics that a program prints. */
export class LogMetrics {
  readonly #now: () => Date;
  readonly #found: FoundMetrics;
  readonly #recognizers = { stdout: new LogRecognizer(), stderr: new LogRecognizer() };

  constructor(options: LogMetricsOptions) {
    this.#now = options.now;
    this.#found = new FoundMetrics({ ...options, kind: 'log', maxNames: 100 });
  }

  get warnings(): string[] {
    return this.#found.warnings;
  }

  /** Read lines of the program's output. */
  read(stream: 'stdout' | 'stderr', lines: readonly string[]): void {
    if (this.#found.isEnded) return;
    const recognizer = this.#recognizers[stream];
    for (const line of lines) for (const found of recognizer.read(line)) this.#take(found);
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

  #take({ step, isWithin = false, values }: PrintedMetrics): void {
    const time = this.#now().getTime();
    for (const [name, value] of values)
      this.#found.take({ name, value, step: isWithin ? this.#found.countOf(name) : step, time });
  }
}
