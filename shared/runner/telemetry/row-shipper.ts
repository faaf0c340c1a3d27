import { setTimeout as delay } from 'node:timers/promises';
import { longPatience, retryFor } from '../job/retry-for.ts';
import type { Ride } from '../job/ride.ts';
import { shippingPace, stretched } from './shipping-pace.ts';

interface RowShipperOptions<Row> {
  append(sequence: number, rows: readonly Row[]): Promise<void>;
  /** Milliseconds between the starts of two partial chunks while a client reads them. */
  flushMilliseconds: number;
  /** Milliseconds between the starts of two partial chunks of a new job while no client reads them. */
  unwatchedMilliseconds?: number;
  /** Whether a client reads; always by default. Called only while rows wait. Never rejects. */
  isWatched?: (() => Promise<boolean>) | undefined;
  maxRows: number;
  /** Called when the sink refused permanently or was unavailable for ten minutes. Later rows are dropped. */
  onLost(error: unknown): void;
}

interface Batch<Row> {
  rows: Row[];
  bytes: number;
}

/** Maximum bytes of JSON in one chunk. A DynamoDB item holds 400 KB, and not all rows compress. */
const chunkBytes = 256 * 1024;

/** Buffer size in bytes of JSON above which the producer waits. In memory, short rows take about twice as much. */
const bufferBytes = 3 * 1024 * 1024;

/**
 * Stores rows in chunks, one after the other, so no chunk is stored while an earlier one is missing. The first row
 * after a pause is sent at once; a busy producer fills chunks.
 */
export class RowShipper<Row> {
  readonly #options: RowShipperOptions<Row>;
  readonly #batches: Batch<Row>[] = [];
  readonly #begun = performance.now();
  #bytes = 0;
  #sequence = 0;
  #lastStart = Number.NEGATIVE_INFINITY;
  #shipping: Promise<void> | undefined;
  /** Whether its loop waits for the next chunk to be due, so that none is under way. */
  #isPausing = false;
  #riding: Promise<void> | undefined;
  #hurry = new AbortController();
  #room = Promise.withResolvers<void>();
  #lost = false;
  #closed = false;

  constructor(options: RowShipperOptions<Row>) {
    this.#options = options;
  }

  /** Whether it accepts no further rows. */
  get isDone(): boolean {
    return this.#lost || this.#closed;
  }

  /** Add a row of `bytes` bytes of JSON. It must be far smaller than a chunk. */
  add(row: Row, bytes: number): void {
    if (this.isDone) return;
    let batch = this.#batches.at(-1);
    if (
      batch === undefined ||
      batch.bytes + bytes > chunkBytes ||
      batch.rows.length === this.#options.maxRows
    ) {
      batch = { rows: [], bytes: 0 };
      this.#batches.push(batch);
      if (this.#batches.length > 1) this.#hurry.abort();
    }
    batch.rows.push(row);
    batch.bytes += bytes;
    this.#bytes += bytes;
    this.#shipping ??= this.#ship();
  }

  /**
   * Hand the rows that wait to another writer, whose transaction they share: it costs less than one of their own. Only
   * rows that have waited for half of their pause go along, or frequent writers would make many small chunks.
   */
  ride(): Ride<Row> | undefined {
    const [batch] = this.#batches;
    const { flushMilliseconds, unwatchedMilliseconds = shippingPace.unwatched } = this.#options;
    const now = performance.now();
    const pause = Math.max(flushMilliseconds, stretched(unwatchedMilliseconds, now - this.#begun));
    if (!this.#isPausing || batch === undefined || now - this.#lastStart < pause / 2) return undefined;
    this.#batches.shift();
    this.#isPausing = false;
    this.#lastStart = now;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#riding = promise;
    const end = (settle: () => void) => () => {
      settle();
      this.#riding = undefined;
      this.#giveRoom();
      resolve();
    };
    return {
      sequence: this.#sequence,
      rows: batch.rows,
      stored: end(() => this.#noteStored(batch)),
      lost: (error) => end(() => this.#lose(error))(),
    };
  }

  /** Wait until there is room for more rows. */
  async room(): Promise<void> {
    while (this.#bytes > bufferBytes && !this.#lost) await this.#room.promise;
  }

  /** Send all remaining rows. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#hurry.abort();
    await this.#shipping;
  }

  async #ship(): Promise<void> {
    // Rows that the producer adds in the same tick go into the same chunk.
    await Promise.resolve();
    while (this.#batches.length > 0 && !this.#lost) {
      this.#isPausing = true;
      await this.#pause();
      const hasRidden = !this.#isPausing;
      this.#isPausing = false;
      if (hasRidden) {
        await this.#riding;
        continue;
      }
      const batch = this.#batches.shift();
      if (batch === undefined) break;
      this.#lastStart = performance.now();
      try {
        await retryFor(longPatience, () => this.#options.append(this.#sequence, batch.rows));
        this.#noteStored(batch);
      } catch (error) {
        this.#lose(error);
      }
      this.#giveRoom();
    }
    this.#shipping = undefined;
  }

  /** Wait until the next chunk is due: it is full, or enough time has passed since the previous one. */
  async #pause(): Promise<void> {
    const { flushMilliseconds, unwatchedMilliseconds = shippingPace.unwatched, isWatched } = this.#options;
    for (;;) {
      if (this.#closed || this.#batches.length > 1 || !this.#isPausing) return;
      const now = performance.now();
      const passed = now - this.#lastStart;
      const latest = Math.max(flushMilliseconds, stretched(unwatchedMilliseconds, now - this.#begun));
      if (passed >= latest) return;
      const watched = isWatched === undefined || (passed >= flushMilliseconds && (await isWatched()));
      if (watched && passed >= flushMilliseconds) return;
      // A chunk that became full or closed during the call is due.
      if (this.#closed || this.#batches.length > 1) return;
      const rest = Math.min(shippingPace.question, latest - passed);
      const wait = passed < flushMilliseconds ? flushMilliseconds - passed : rest;
      this.#hurry = new AbortController();
      await delay(wait, undefined, { signal: this.#hurry.signal }).catch(() => undefined);
    }
  }

  #noteStored({ bytes }: Batch<Row>): void {
    this.#sequence += 1;
    this.#bytes -= bytes;
  }

  #lose(error: unknown): void {
    this.#lost = true;
    this.#batches.length = 0;
    this.#bytes = 0;
    this.#options.onLost(error);
  }

  #giveRoom(): void {
    const { resolve } = this.#room;
    this.#room = Promise.withResolvers();
    resolve();
  }
}
