import { setTimeout as delay } from 'node:timers/promises';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import { FileRefusedError, GrowingFile } from '../host/growing-file.ts';
import type { SecretMask } from '../host/secret-mask.ts';
import { LineSplitter } from './line-splitter.ts';
import { parseMetricLine } from './metrics-file-line.ts';
import { RowShipper } from './row-shipper.ts';
import { shippingPace } from './shipping-pace.ts';

const chunkPoints = 5_000;

const defaultPollMilliseconds = 500;

/** Far more than 100,000 points need. A sparse file can have any size. */
const maxFileBytes = 128 * 1024 * 1024;

const maxPoints = 100_000;

/** Malformed lines that the log names. */
const maxSaid = 3;

/**
 * Reads the metrics that a command writes to METRICS_FILE as JSON lines, and sends them to the sink while the
 * command runs.
 */
export class MetricsFileReader {
  readonly #options: MetricsFileReaderOptions;
  readonly #file: GrowingFile;
  readonly #shipper: RowShipper<MetricPoint>;
  readonly #ending = new AbortController();
  readonly #leftOut = new LeftOutLines();
  readonly #faults = new Set<string>();
  readonly #said: string[] = [];
  #lines: LineSplitter;
  #points = 0;
  #bytes = 0;
  #isFull = false;
  #polling: Promise<void> | undefined;

  constructor(options: MetricsFileReaderOptions) {
    const { file, user, sink, say } = options;
    this.#options = options;
    this.#lines = new LineSplitter(options.mask);
    this.#file = new GrowingFile(file, user);
    this.#shipper = new RowShipper({
      append: (sequence, points) => sink.append(sequence, points),
      flushMilliseconds: shippingPace.watchedMetrics,
      isWatched: options.isWatched,
      maxRows: chunkPoints,
      onLost: () => say('The metrics can no longer be stored. Later ones are dropped.'),
    });
  }

  /** The warnings about the file, for the run. */
  get warnings(): string[] {
    const lines = this.#leftOut.sentence();
    return [...(lines === undefined ? [] : [lines]), ...this.#said];
  }

  start(): void {
    this.#polling ??= this.#poll();
  }

  /** Read to the end of the file and send the remaining points. Never rejects. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#polling;
    await this.#readNew();
    this.#take(this.#lines.end());
    await this.#file.close();
    await this.#shipper.close();
  }

  async #poll(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await this.#readNew();
      await delay(this.#options.pollMilliseconds ?? defaultPollMilliseconds, undefined, { signal }).catch(
        () => undefined,
      );
    }
  }

  async #readNew(): Promise<void> {
    try {
      for await (const growth of this.#file.read()) {
        if (this.#isFull || this.#shipper.isDone) return;
        if (growth === 'restarted') {
          this.#take(this.#lines.end());
          this.#lines = new LineSplitter(this.#options.mask);
          continue;
        }
        this.#bytes += growth.bytes.length;
        if (this.#bytes > maxFileBytes) this.#fill(`${maxFileBytes} bytes`);
        else this.#take(this.#lines.split(growth.bytes, 0));
        await this.#shipper.room();
      }
    } catch (error) {
      const why = error instanceof FileRefusedError ? error.message : 'reading it failed';
      this.#warnOnce(why, `METRICS_FILE is not read: ${why}.`);
    }
  }

  #take(lines: readonly string[]): void {
    const now = this.#options.now();
    const before = this.#leftOut.count;
    for (const text of lines) {
      if (text.trim() === '') continue;
      if (this.#points === maxPoints) {
        this.#fill(`${maxPoints} points`);
        break;
      }
      const { points, fault } = parseMetricLine(text, now);
      if (fault !== undefined) this.#refuse(fault, text);
      for (const point of points.slice(0, maxPoints - this.#points)) {
        this.#points += 1;
        this.#options.onPoint?.(point);
        this.#shipper.add(point, Buffer.byteLength(JSON.stringify(point)) + 1);
      }
    }
    if (this.#leftOut.count > before) this.#options.onWarnings?.(this.warnings);
  }

  #refuse(fault: string, text: string): void {
    const quoted = this.#leftOut.add(fault, text);
    if (this.#leftOut.count > maxSaid) return;
    const more = this.#leftOut.count === maxSaid ? ' Further such lines are only counted.' : '';
    this.#options.say(`METRICS_FILE: a line is left out, because ${fault}: ${quoted}.${more}`);
  }

  #fill(limit: string): void {
    this.#isFull = true;
    this.#warnOnce('limit', `METRICS_FILE: a job may report ${limit}. Later lines are left out.`);
  }

  #warnOnce(kind: string, message: string): void {
    if (this.#faults.has(kind)) return;
    this.#faults.add(kind);
    this.#said.push(message);
    this.#options.say(message);
    this.#options.onWarnings?.(this.warnings);
  }
}

export interface MetricsFileReaderOptions {
  file: string;
  /** Required owner of the file; any if this process is not root. */
  user?: { uid: number };
  sink: { append(sequence: number, points: readonly MetricPoint[]): Promise<void> };
  now(): Date;
  /** Masks secrets in the points. No mask by default. */
  mask?: SecretMask;
  /** Writes to the user's log: the first malformed lines, and each other fault of the file once. */
  say(message: string): void;
  /** Receives each point when it is read, before it is stored. */
  onPoint?(point: MetricPoint): void;
  /** Receives all warnings about the file when there is a new one. */
  onWarnings?(warnings: readonly string[]): void;
  /** Whether a client reads the metrics; always by default. */
  isWatched?: () => Promise<boolean>;
  /** Milliseconds between two reads. */
  pollMilliseconds?: number;
}

/** Maximum number of quoted lines, and of characters of one. The run shows them. */
const maxQuoted = 3;

/** Counts invalid lines of METRICS_FILE and quotes the first of them. */
class LeftOutLines {
  #count = 0;
  readonly #first: string[] = [];

  get count(): number {
    return this.#count;
  }

  /** Count a line. Return its quotation: shortened, on one line, without control characters. */
  add(fault: string, text: string): string {
    this.#count += 1;
    const quoted = quote(text);
    if (this.#first.length < maxQuoted) this.#first.push(`${quoted}, because ${fault}`);
    return quoted;
  }

  /** The sentence that tells the user which lines were left out; undefined if there are none. */
  sentence(): string | undefined {
    if (this.#count === 0) return undefined;
    const lines =
      this.#count === 1 ? '1 line of METRICS_FILE was' : `${this.#count} lines of METRICS_FILE were`;
    const first = this.#count > maxQuoted ? `. The first ${maxQuoted}: ` : ': ';
    return `${lines} left out, in whole or in part${first}${this.#first.join('; ')}.`;
  }
}

const shownUnits = 120;

const quote = (text: string): string =>
  JSON.stringify(text.length > shownUnits ? `${text.slice(0, shownUnits)}…` : text);
