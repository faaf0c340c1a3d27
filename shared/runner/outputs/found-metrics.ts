import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import { isVoid, type VoidPoints } from '../../data/metrics/purge-points.ts';
import type { FoundSource } from '../../metrics/found-source.ts';
import { RowShipper } from '../telemetry/row-shipper.ts';
import { shippingPace } from '../telemetry/shipping-pace.ts';
import type { MetricSource } from './metric-source.ts';

const maxPoints = 100_000;

/** Bytes that a row without a point counts in a chunk. */
const rowBytes = 1000;

export interface FoundMetricsOptions {
  source: MetricSource;
  kind: FoundSource;
  /** Most names that are taken. More names are those of data, not of metrics. */
  maxNames: number;
  sink: {
    append(sequence: number, points: readonly MetricPoint[]): Promise<void>;
    /** Remove points that are stored. */
    purge?(given: VoidPoints): Promise<void>;
  };
  say(message: string): void;
  isWatched: () => Promise<boolean>;
  /** Sentence for the log about the source, once it counts. */
  origin?(): string | undefined;
}

const words: Readonly<Record<FoundSource, string>> = {
  log: 'the log',
  tensorboard: 'the TensorBoard files',
  csv: 'the tables of metrics',
  trainer: 'trainer_state.json',
  summary: 'the JSON files of metrics',
};

/** Stores the points of one source that is not the program itself, once it is clear that they count. */
export class FoundMetrics {
  readonly #options: FoundMetricsOptions;
  /** Points, and what makes earlier ones void, in their order. */
  readonly #shipper: RowShipper<MetricPoint | VoidPoints>;
  /** Number of points of each name. */
  readonly #counts = new Map<string, number>();
  readonly #warnings = new Set<string>();
  #held: MetricPoint[] | undefined = [];
  #firstAt: number | undefined;
  #points = 0;
  #isEnded = false;

  constructor(options: FoundMetricsOptions) {
    this.#options = options;
    this.#shipper = new RowShipper({
      append: (sequence, rows) => this.#append(sequence, rows),
      flushMilliseconds: shippingPace.watchedMetrics,
      isWatched: options.isWatched,
      maxRows: 5_000,
      onLost: () => options.say('The metrics that were found can no longer be stored.'),
    });
  }

  get warnings(): string[] {
    return [...this.#warnings];
  }

  /** Whether no more points are taken, because another source counts. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  get hasPoints(): boolean {
    return this.#points > 0;
  }

  /** Number of points under a name. */
  countOf(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  take(point: MetricPoint): void {
    const { maxNames, kind } = this.#options;
    const count = this.#counts.get(point.name);
    if (this.#isEnded) return;
    if (Math.abs(point.step ?? 0) > Number.MAX_SAFE_INTEGER) {
      const name = JSON.stringify(point.name);
      this.#warn(`A point of ${name} is left out: its step is beyond 2^53 - 1.`);
      return;
    }
    if (count === undefined && this.#counts.size === maxNames) {
      this.#warn(
        `There are more than ${maxNames} metrics in ${words[kind]}; the others are not taken from there.`,
      );
      return;
    }
    if (this.#points === maxPoints) {
      this.#warn(
        `There are more than ${maxPoints} points in ${words[kind]}; the others are not taken from there.`,
      );
      return;
    }
    this.#counts.set(point.name, (count ?? 0) + 1);
    this.#points += 1;
    this.#firstAt ??= performance.now();
    if (this.#held === undefined) this.#ship(point);
    else this.#held.push(point);
  }

  /** Forget the points of some names from a step on, and remove those that are stored. */
  purge(voidPoints: VoidPoints): void {
    if (this.#held === undefined) {
      if (!this.#isEnded) this.#shipper.add({ ...voidPoints, names: new Set(voidPoints.names) }, rowBytes);
      return;
    }
    for (const point of this.#held)
      if (isVoid(voidPoints, point)) this.#counts.set(point.name, (this.#counts.get(point.name) ?? 1) - 1);
    this.#held = this.#held.filter((point) => !isVoid(voidPoints, point));
    this.#points = this.#held.length;
  }

  async #append(sequence: number, rows: readonly (MetricPoint | VoidPoints)[]): Promise<void> {
    const { sink } = this.#options;
    let points: MetricPoint[] = [];
    for (const row of rows) {
      if (!('names' in row)) {
        points.push(row);
        continue;
      }
      if (points.length > 0) await sink.append(sequence, points);
      points = [];
      await sink.purge?.(row);
    }
    if (points.length > 0) await sink.append(sequence, points);
  }

  /** Send the points that wait, if they count. */
  release(isLast = false): void {
    const { source, kind } = this.#options;
    if (this.#isEnded) return;
    if (this.#firstAt === undefined) {
      if (source.hasReported) this.#end();
      return;
    }
    const waited = isLast ? Number.POSITIVE_INFINITY : performance.now() - this.#firstAt;
    const claim = source.claim(kind, waited);
    if (claim === 'never') this.#end();
    if (claim === 'not these') this.#drop();
    if (claim !== 'now' || this.#held === undefined) return;
    const origin = this.#options.origin?.();
    if (origin !== undefined) this.#options.say(origin);
    for (const point of this.#held) this.#ship(point);
    this.#held = undefined;
  }

  /** Store what waits. Never rejects. */
  async close(): Promise<void> {
    this.release(true);
    await this.#shipper.close();
  }

  #end(): void {
    this.#isEnded = true;
    this.#held = undefined;
    this.#warnings.clear();
  }

  /** Forget the points that waited. */
  #drop(): void {
    this.#held = [];
    this.#counts.clear();
    this.#points = 0;
    this.#firstAt = undefined;
    this.#warnings.clear();
  }

  #ship(point: MetricPoint): void {
    if (!this.#options.source.owns(this.#options.kind, point.name)) return;
    this.#shipper.add(point, Buffer.byteLength(JSON.stringify(point)) + 1);
  }

  #warn(message: string): void {
    if (this.#warnings.has(message)) return;
    this.#warnings.add(message);
    this.#options.say(message);
  }
}
