import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConfigScalar } from '../../config/config-value.ts';
import { line } from '../../core/text/text-rules.ts';
import { artifactPathMaxBytes } from '../../data/experiments/tracking-rules.ts';
import { GrowingFile, openOwned } from '../host/growing-file.ts';
import { readAtMost } from '../host/read-at-most.ts';
import type { SecretMask } from '../host/secret-mask.ts';
import { CsvMetrics, type FileMetric } from '../metric-files/csv-metrics.ts';
import { EventFile } from '../metric-files/event-file.ts';
import { EventNames, folderOf } from '../metric-files/event-names.ts';
import { JsonLines } from '../metric-files/json-lines.ts';
import { summaryMetrics, trainerHistory } from '../metric-files/json-metrics.ts';
import { type MetricFileKind, mayHoldLines, metricFileKind } from '../metric-files/metric-file-kind.ts';
import { LineSplitter } from '../telemetry/line-splitter.ts';
import { findFiles } from './find-files.ts';
import { FoundMetrics, type FoundMetricsOptions } from './found-metrics.ts';
import { passesOver } from './passed-over.ts';

export interface FileMetricsOptions extends Omit<FoundMetricsOptions, 'kind' | 'maxNames'> {
  /** Folders that the program may write to. */
  folders: readonly string[];
  /** Owner of the files; any owner if this process is not root. */
  user: { uid: number } | undefined;
  mask: SecretMask;
  now(): Date;
  /** Milliseconds between two reads of known files, and the least between two searches for new ones. */
  readMilliseconds?: number;
  searchMilliseconds?: number;
}

const defaultReadMilliseconds = 2_000;
const defaultSearchMilliseconds = 10_000;

/** A search may take this share of the time. */
const searchShare = 0.02;

const bounds = { maxFiles: 50_000, maxDepth: 32, maxPathBytes: artifactPathMaxBytes };

/** Files that are read. A search of parameters may leave hundreds. */
const maxFollowed = 64;

const maxJsonBytes = 16 * 1024 * 1024;

/** Maximum bytes that are read of one file. A sparse file can claim any size. */
const maxFileBytes = 512 * 1024 * 1024;

const maxNames = 1_000;

const Name = line(128);

/**
 * Reads the metrics that frameworks write to files of their own, while the program runs: TensorBoard's event files,
 * tables of metrics, and the state of Hugging Face's Trainer; at the end also JSON files of single values. Files that
 * were there before the program count only for what it adds.
 */
export class FileMetrics {
  readonly #options: FileMetricsOptions;
  readonly #found: Readonly<Record<MetricFileKind, FoundMetrics>>;
  readonly #ending = new AbortController();
  readonly #names = new EventNames();
  /** State of the files of metrics before the program, by path. */
  readonly #before = new Map<string, string>();
  /** Lines of tables that were there before. */
  readonly #oldLines = new Map<string, ReadonlySet<string>>();
  readonly #followed = new Map<string, FollowedFile>();
  /** State in which each JSON file was last read. */
  readonly #read = new Map<string, string>();
  readonly #summaries = new Set<string>();
  /** The file of each kind that had the first metric. */
  readonly #firstFiles = new Map<MetricFileKind, string>();
  /** Points that were taken from a file that is read more than once. */
  readonly #taken = new Set<string>();
  readonly #others = new Set<string>();
  /** Names of the scalars of each folder with event files. */
  readonly #ofFolder = new Map<string, Set<string>>();
  /** Hyperparameters of TensorBoard's sessions; undefined for those that differ between sessions. */
  readonly #params = new Map<string, ConfigScalar | undefined>();
  #reading: Promise<void> | undefined;

  constructor(options: FileMetricsOptions) {
    this.#options = options;
    const of = (kind: MetricFileKind) =>
      new FoundMetrics({ ...options, kind, maxNames, origin: () => this.#originOf(kind) });
    this.#found = {
      tensorboard: of('tensorboard'),
      csv: of('csv'),
      trainer: of('trainer'),
      summary: of('summary'),
    };
  }

  get warnings(): string[] {
    return Object.values(this.#found).flatMap(({ warnings }) => warnings);
  }

  /** Hyperparameters of TensorBoard's files. Sessions with several values of one, as those of a search, have none. */
  get params(): Record<string, ConfigScalar> {
    return Object.fromEntries(
      [...this.#params].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  }

  /** Note the files that are there before the program starts. */
  async note(): Promise<void> {
    for await (const { path, kind, written } of this.#search()) {
      this.#before.set(path, written);
      if (kind === 'csv') await this.#noteTable(path);
      if (kind === 'trainer') await this.#noteHistory(path);
    }
  }

  start(): void {
    this.#reading ??= this.#readAtIntervals();
  }

  /** Read the rest of the files after the program has ended, and store what counts. Never rejects. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#reading;
    await this.#look().catch(() => undefined);
    for (const file of this.#followed.values()) this.#take(file, file.lines?.end() ?? []);
    for (const found of this.#histories) await found.close();
    for (const { file } of this.#followed.values()) await file.close();
  }

  /**
   * Store the single values of JSON files, after the log has been read. Never rejects.
   * @param isPrinted whether the log has a metric of this name
   */
  async closeSummaries(isPrinted: (name: string) => boolean): Promise<void> {
    await this.#readSummaries(isPrinted).catch(() => undefined);
    await this.#found.summary.close();
  }

  /** Note the lines of a table. Large ones are data. */
  async #noteTable(path: string): Promise<void> {
    const text = this.#oldLines.size < maxFollowed ? await this.#textOf(path, maxOldTableBytes) : undefined;
    if (text === undefined) this.#others.add(path);
    else this.#oldLines.set(path, new Set(text.split(/\r?\n/)));
  }

  async #noteHistory(path: string): Promise<void> {
    const text = this.#taken.size < maxTaken ? await this.#textOf(path) : undefined;
    for (const metric of trainerHistory(text ?? '')) this.#taken.add(keyOf('trainer', metric));
  }

  #originOf(kind: MetricFileKind): string | undefined {
    const file = this.#firstFiles.get(kind);
    if (file === undefined) return undefined;
    const inside = this.#options.folders.map((folder) => relative(folder, file));
    const path = inside.find((one) => !one.startsWith('..')) ?? file;
    return `Metrics are read from ${JSON.stringify(path)}, because the program reports none itself.`;
  }

  async #readAtIntervals(): Promise<void> {
    const { readMilliseconds = defaultReadMilliseconds, searchMilliseconds = defaultSearchMilliseconds } =
      this.#options;
    const { signal } = this.#ending;
    let next = performance.now();
    while (!signal.aborted && !this.#isEnded) {
      try {
        if (performance.now() >= next) {
          const begun = performance.now();
          await this.#look();
          const took = performance.now() - begun;
          next = performance.now() + Math.max(searchMilliseconds, took / searchShare);
        } else await this.#readFollowed();
      } catch {
        // The next pass tries again.
      }
      for (const found of this.#histories) found.release();
      await delay(readMilliseconds, undefined, { signal }).catch(() => undefined);
    }
  }

  get #histories(): FoundMetrics[] {
    return [this.#found.tensorboard, this.#found.csv, this.#found.trainer];
  }

  get #isEnded(): boolean {
    return this.#histories.every(({ isEnded }) => isEnded);
  }

  /** Event files are read for their hyperparameters even where another source has the metrics. */
  #isUnread(kind: MetricFileKind): boolean {
    return kind !== 'tensorboard' && this.#found[kind].isEnded;
  }

  /** Find new files, and read all. */
  async #look(): Promise<void> {
    for await (const { path, kind, written } of this.#search()) {
      if (this.#before.get(path) === written || this.#isUnread(kind)) continue;
      if (kind === 'summary') {
        this.#summaries.add(path);
        if (mayHoldLines(path) && !this.#before.has(path)) this.#follow(path, 'csv');
      }
      if (kind === 'trainer') await this.#readTrainer(path, written);
      if (kind === 'csv' || (kind === 'tensorboard' && !this.#before.has(path))) this.#follow(path, kind);
    }
    await this.#readFollowed();
  }

  async *#search(): AsyncGenerator<{ path: string; kind: MetricFileKind; written: string }> {
    const { folders, user } = this.#options;
    const options = { ...bounds, refused: () => undefined, passesOver, ...(user !== undefined && { user }) };
    for (const folder of folders)
      for await (const { path, written } of findFiles(folder, options)) {
        const kind = metricFileKind(path);
        if (kind !== undefined) yield { path: join(folder, path), kind, written };
      }
  }

  #follow(path: string, kind: 'tensorboard' | 'csv'): void {
    const isNew = !this.#followed.has(path) && !this.#others.has(path);
    if (!isNew || this.#followed.size === maxFollowed) return;
    if (kind === 'tensorboard') this.#names.add(path);
    const file = new GrowingFile(path, this.#options.user);
    this.#followed.set(path, { path, kind, file, bytes: 0, ...this.#parserOf(path, kind) });
    if (kind === 'tensorboard') this.#options.source.expectFiles();
  }

  #parserOf(path: string, kind: 'tensorboard' | 'csv'): Pick<FollowedFile, 'events' | 'table' | 'lines'> {
    if (kind === 'tensorboard')
      return {
        events: new EventFile({
          onStart: (step) => this.#purge(path, step),
          onParam: (name, value) => this.#takeParam(name, value),
        }),
      };
    return { table: mayHoldLines(path) ? new JsonLines() : new CsvMetrics(path), lines: new LineSplitter() };
  }

  async #readFollowed(): Promise<void> {
    // Names of event files have their time: a writer that purges comes after those that it purges.
    const files = [...this.#followed.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
    for (const file of files) {
      if (this.#isUnread(file.kind) || file.bytes > maxFileBytes) continue;
      try {
        for await (const growth of file.file.read()) {
          if (growth === 'restarted') {
            // A table that is written anew has its rows once more. Points that are stored are not stored twice.
            Object.assign(file, this.#parserOf(file.path, file.kind));
            continue;
          }
          file.bytes += growth.bytes.length;
          if (file.events !== undefined) this.#takeEvents(file, file.events, growth.bytes);
          else this.#take(file, file.lines?.split(growth.bytes, 0) ?? []);
          if (file.bytes > maxFileBytes) break;
        }
        if (file.table?.isOther !== true) continue;
        this.#others.add(file.path);
      } catch {
        // The file was replaced; the next scan reads it.
      }
      await file.file.close();
      this.#followed.delete(file.path);
    }
  }

  #takeEvents(file: FollowedFile, events: EventFile, bytes: Buffer): void {
    for (const { tag, value, step, time } of events.read(bytes)) {
      const name = this.#names.nameOf(file.path, tag, value);
      if (name === undefined) continue;
      const folder = folderOf(file.path);
      this.#ofFolder.set(
        folder,
        (this.#ofFolder.get(folder) ?? new Set()).add(this.#options.mask.apply(name)),
      );
      this.#add('tensorboard', file.path, { name, value, step }, time);
    }
  }

  #takeParam(given: string, value: ConfigScalar): void {
    const { mask } = this.#options;
    const name = mask.apply(given);
    const masked = typeof value === 'string' ? mask.apply(value) : value;
    const known = this.#params.get(name);
    if (this.#params.has(name)) this.#params.set(name, known === masked ? known : undefined);
    else if (this.#params.size < maxNames) this.#params.set(name, masked);
  }

  /** Forget what the writers of a folder logged from a step on, as TensorBoard does. */
  #purge(path: string, step: number): void {
    const names = this.#ofFolder.get(folderOf(path));
    if (names !== undefined && names.size > 0) this.#found.tensorboard.purge({ names, step });
  }

  #take(file: FollowedFile, lines: readonly string[]): void {
    const old = this.#oldLines.get(file.path);
    for (const text of lines)
      for (const metric of file.table?.read(text) ?? []) {
        const name = this.#names.ownName(folderOf(file.path), metric.name);
        if (old?.has(text) !== true) this.#addOnce('csv', file.path, { ...metric, name });
      }
  }

  async #readTrainer(path: string, written: string): Promise<void> {
    if (this.#read.get(path) === written) return;
    const text = await this.#textOf(path);
    if (text === undefined) return;
    this.#read.set(path, written);
    for (const metric of trainerHistory(text)) this.#addOnce('trainer', path, metric);
  }

  async #readSummaries(isPrinted: (name: string) => boolean): Promise<void> {
    const { source } = this.#options;
    if (source.hasReported || this.#histories.some((found) => found.hasPoints)) return;
    for (const path of [...this.#summaries].slice(0, maxFollowed)) {
      const text = await this.#textOf(path);
      for (const metric of summaryMetrics(text ?? '', path))
        if (!isPrinted(metric.name)) this.#add('summary', path, metric);
    }
  }

  /** Take a point of a file that is read more than once. */
  #addOnce(kind: 'csv' | 'trainer', path: string, metric: FileMetric): void {
    const key = keyOf(kind, metric);
    if (this.#taken.has(key) || this.#taken.size >= maxTaken) return;
    this.#taken.add(key);
    this.#add(kind, path, metric);
  }

  #add(kind: MetricFileKind, path: string, { name, value, step }: FileMetric, at?: number): void {
    const masked = this.#options.mask.apply(name);
    if (!Name.safeParse(masked).success) return;
    if (!this.#firstFiles.has(kind)) this.#firstFiles.set(kind, path);
    const now = this.#options.now().getTime();
    const time = at !== undefined && at > 0 && at <= now + maxAheadMs ? Math.trunc(at) : now;
    this.#found[kind].take({ name: masked, value, step, time });
  }

  async #textOf(path: string, maxBytes = maxJsonBytes): Promise<string | undefined> {
    try {
      const handle = await openOwned(path, this.#options.user);
      try {
        return (await readAtMost(handle, maxBytes))?.toString('utf8');
      } finally {
        await handle.close();
      }
    } catch {
      return undefined;
    }
  }
}

interface FollowedFile {
  path: string;
  kind: 'tensorboard' | 'csv';
  file: GrowingFile;
  bytes: number;
  events?: EventFile;
  table?: CsvMetrics | JsonLines;
  lines?: LineSplitter;
}

const keyOf = (kind: MetricFileKind, { name, step, value }: FileMetric): string =>
  JSON.stringify([kind, name, step, String(value)]);

/** Points that are remembered, a few more than are stored. */
const maxTaken = 150_000;

/** Larger tables that were there before are data. */
const maxOldTableBytes = 1_000_000;

/** A clock of the program may be this far ahead. */
const maxAheadMs = 86_400_000;
