import { appendLog, type LogLine } from '../../data/jobs/job-log.ts';
import { jobIdOf } from '../../jobs/job-record.ts';
import { noMask, type SecretMask } from '../host/secret-mask.ts';
import type { HeldJob } from '../job/hold-job.ts';
import type { Ride } from '../job/ride.ts';
import { LineSplitter } from './line-splitter.ts';
import { RowShipper } from './row-shipper.ts';
import { shippingPace } from './shipping-pace.ts';

interface LogSink {
  /** Store lines as chunk `sequence`. Called again with the same lines after a failure. */
  append(sequence: number, lines: readonly LogLine[]): Promise<void>;
}

/** Reads lines of a command's output, with secrets masked, and the bytes in which they end. */
type LineListener = (stream: 'stdout' | 'stderr', lines: readonly string[], chunk?: Buffer) => void;

export interface LogShipperOptions {
  sink: LogSink;
  now(): Date;
  /** Masks secrets in all stored text. No mask by default. */
  mask?: SecretMask;
  /** Maximum bytes of output, as UTF-8 with a line feed for each line. */
  maxBytes: number;
  flushMilliseconds?: number;
  unwatchedMilliseconds?: number;
  /** Whether a client reads the log; always by default. */
  isWatched?: () => Promise<boolean>;
  /** Called when the sink refuses permanently. Later lines are dropped. */
  onLost(error: unknown): void;
  /** Called once, when the output exceeds its limit. Later output is dropped. */
  onLimit(): void;
}

/** Rows per chunk. Reading one row parses its whole chunk. */
const chunkRows = 10_000;

/** Maximum UTF-16 units of one `say`. No message of the service or of an installer needs as much. */
const sayUnits = 64 * 1024;

/** Overhead of a stored line in bytes: time, stream and punctuation. */
const rowBytes = 32;

/**
 * Writes a command's output and the service's messages as lines to the table while the command runs. Every line is
 * sent in order, or `onLost` is called. A slow sink slows the command down.
 */
export class LogShipper {
  readonly #options: LogShipperOptions;
  readonly #shipper: RowShipper<LogLine>;
  readonly #splitters: Readonly<Record<'stdout' | 'stderr', LineSplitter>>;
  #outputBytes = 0;
  #listener: LineListener | undefined;

  constructor(options: LogShipperOptions) {
    const { sink, flushMilliseconds = shippingPace.watchedLog, onLost } = options;
    this.#options = options;
    this.#splitters = { stdout: new LineSplitter(options.mask), stderr: new LineSplitter(options.mask) };
    this.#shipper = new RowShipper({
      append: (sequence, lines) => sink.append(sequence, lines),
      flushMilliseconds,
      ...(options.unwatchedMilliseconds !== undefined && {
        unwatchedMilliseconds: options.unwatchedMilliseconds,
      }),
      isWatched: options.isWatched,
      maxRows: chunkRows,
      onLost,
    });
  }

  /** Hand every kept line of the command's output to a reader, too. */
  listen(listener: LineListener): void {
    this.#listener = listener;
  }

  /** Accept output of the command. Resolves when there is room for more. Never rejects. */
  async output(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void> {
    if (this.#shipper.isDone || this.#isFull) return;
    const now = this.#options.now();
    this.#addOutput(stream, this.#splitters[stream].split(chunk, now.getTime()), now, chunk);
    await this.#shipper.room();
  }

  /** Hand the lines that wait to the writer of something else, as {@link RowShipper.ride} does. */
  ride(): Ride<LogLine> | undefined {
    return this.#shipper.ride();
  }

  /** Add a message of the service, of one or more lines. */
  say(message: string): void {
    const now = this.#options.now();
    const masked = this.#options.mask?.apply(message) ?? message;
    const text = masked.length > sayUnits ? `${masked.slice(0, sayUnits)} …` : masked;
    const splitter = new LineSplitter();
    const lines = [...splitter.split(Buffer.from(text), now.getTime()), ...splitter.end()];
    for (const line of lines) this.#add('service', line, now);
  }

  /** End the output of the command: add a last line without line end. */
  endOutput(): void {
    const now = this.#options.now();
    for (const stream of ['stdout', 'stderr'] as const)
      this.#addOutput(stream, this.#splitters[stream].end(), now);
  }

  /** Send all remaining lines, including a last line without line end. Never rejects. */
  async close(): Promise<void> {
    this.endOutput();
    await this.#shipper.close();
  }

  get #isFull(): boolean {
    return this.#outputBytes > this.#options.maxBytes;
  }

  #addOutput(stream: 'stdout' | 'stderr', lines: readonly string[], now: Date, chunk?: Buffer): void {
    if (lines.length > 0) this.#listener?.(stream, lines, chunk);
    const { maxBytes, onLimit } = this.#options;
    for (const line of lines) {
      if (this.#isFull) return;
      this.#outputBytes += Buffer.byteLength(line) + 1;
      if (!this.#isFull) {
        this.#add(stream, line, now);
        continue;
      }
      this.say(
        `The log has reached its limit of ${maxBytes} bytes; later output of the command is not kept.`,
      );
      onLimit();
    }
  }

  #add(stream: LogLine['stream'], message: string, now: Date): void {
    this.#shipper.add({ time: now.toISOString(), stream, message }, jsonBytes(message) + rowBytes);
  }
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** Open the log of this node of a job. Stops the job when its lease is lost or the log reaches its limit. */
export function openLog(
  { record, node, lease, records, settings, stop, watch, heart, now }: HeldJob,
  mask: SecretMask = noMask,
): LogShipper {
  const job_id = jobIdOf(record);
  const maxBytes = settings.limits.logBytes;
  return new LogShipper({
    sink: {
      async append(sequence, lines) {
        await appendLog(records, job_id, node, lease, sequence, lines, now());
        heart.beaten();
      },
    },
    now,
    mask,
    isWatched: () => watch.isWatched(),
    maxBytes,
    onLost: () => stop.because({ kind: 'superseded' }),
    onLimit: () =>
      stop.because({ kind: 'limit', message: `The log reached its limit of ${maxBytes} bytes.` }),
  });
}
