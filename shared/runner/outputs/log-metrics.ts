import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import { LogRecognizer } from '../log-metrics/log-recognizer.ts';
import type { PrintedMetrics } from '../log-metrics/printed-metrics.ts';
import { RowShipper } from '../telemetry/row-shipper.ts';
import { shippingPace } from '../telemetry/shipping-pace.ts';

/** Most names and points that are taken from a log. More names are those of data, not of metrics. */
const maxNames = 100;
const maxPoints = 100_000;

/** Milliseconds for which the first points wait, because the program may report its metrics itself. */
const patience = 10_000;

export interface LogMetricsOptions {
  sink: { append(sequence: number, points: readonly MetricPoint[]): Promise<void> };
  now(): Date;
  /** Whether the program has reported a metric otherwise. Then its log holds nothing more to store. */
  hasReported(): boolean;
  /** Called once, before the first points are stored. */
  onFirst(): void;
  say(message: string): void;
  isWatched: () => Promise<boolean>;
}

/** Stores the metrics that a program prints, if it reports none otherwise. */
export class LogMetrics {
  readonly #options: LogMetricsOptions;
  readonly #shipper: RowShipper<MetricPoint>;
  readonly #recognizers = { stdout: new LogRecognizer(), stderr: new LogRecognizer() };
  /** Points by name, which are also the steps of lines that state none. */
  readonly #counts = new Map<string, number>();
  readonly #warnings = new Set<string>();
  #held: MetricPoint[] | undefined = [];
  #firstAt: number | undefined;
  #points = 0;
  #isEnded = false;

  constructor(options: LogMetricsOptions) {
    this.#options = options;
    this.#shipper = new RowShipper({
      append: (sequence, points) => options.sink.append(sequence, points),
      flushMilliseconds: shippingPace.watchedMetrics,
      isWatched: options.isWatched,
      maxRows: 5_000,
      onLost: () => options.say('The metrics of the log can no longer be stored.'),
    });
  }

  get warnings(): string[] {
    return [...this.#warnings];
  }

  /** Read lines of the program's output. */
  read(stream: 'stdout' | 'stderr', lines: readonly string[]): void {
    if (this.#isEnded) return;
    const recognizer = this.#recognizers[stream];
    for (const line of lines) for (const found of recognizer.read(line)) this.#take(found);
    this.#release(false);
  }

  /** Store what waits. Never rejects. */
  async close(): Promise<void> {
    if (!this.#isEnded) {
      for (const recognizer of Object.values(this.#recognizers))
        for (const found of recognizer.end()) this.#take(found);
      this.#release(true);
    }
    await this.#shipper.close();
  }

  #take({ step, isWithin = false, values }: PrintedMetrics): void {
    const time = this.#options.now().getTime();
    for (const [name, value] of values) {
      const count = this.#counts.get(name);
      if (count === undefined && this.#counts.size === maxNames) {
        this.#warn(`The log names more than ${maxNames} metrics; the others are not taken from it.`);
        continue;
      }
      if (this.#points === maxPoints) {
        this.#warn(
          `The log holds more than ${maxPoints} points of metrics; the others are not taken from it.`,
        );
        return;
      }
      this.#counts.set(name, (count ?? 0) + 1);
      this.#points += 1;
      const point = { name, value, step: isWithin ? (count ?? 0) : step, time };
      if (this.#held === undefined) this.#ship(point);
      else this.#held.push(point);
    }
    if (values.length > 0) this.#firstAt ??= performance.now();
  }

  /** Send the points that wait, once it is clear that the program reports none itself. */
  #release(isLast: boolean): void {
    if (this.#options.hasReported()) {
      this.#isEnded = true;
      this.#held = undefined;
      this.#warnings.clear();
      return;
    }
    if (this.#held === undefined || this.#firstAt === undefined) return;
    if (!isLast && performance.now() - this.#firstAt < patience) return;
    this.#options.onFirst();
    for (const point of this.#held) this.#ship(point);
    this.#held = undefined;
  }

  #ship(point: MetricPoint): void {
    this.#shipper.add(point, Buffer.byteLength(JSON.stringify(point)) + 1);
  }

  #warn(message: string): void {
    if (this.#warnings.has(message)) return;
    this.#warnings.add(message);
    this.#options.say(message);
  }
}
