import type { Readable } from 'node:stream';

/** More than a pipe holds; what comes beyond it after the writer's end was written by somebody else. */
const MAX_BYTES_AFTER_END = 8 * 1024 * 1024;

/**
 * Hands what comes out of a pipe to a consumer, chunk by chunk, and reads on only when the consumer is done,
 * so that the writer waits and memory stays small.
 */
export class OutputPump {
  /** Settles when everything is handed over; never rejects. */
  readonly done: Promise<void>;
  readonly #source: Readable;
  readonly #consume: (chunk: Buffer) => Promise<void> | void;
  readonly #fail: (error: unknown) => void;
  #failed = false;
  /** Since when nothing has come, while the consumer is free. */
  #waitingSince: number | null = null;
  /** For how much longer may be waited in all; null before the writer's end. */
  #patienceMs: number | null = null;
  #bytesAfterEnd = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `fail` is called once when the consumer rejects; the rest of the output is then read and dropped. */
  constructor(
    source: Readable,
    consume: (chunk: Buffer) => Promise<void> | void,
    fail: (error: unknown) => void,
  ) {
    this.#source = source;
    this.#consume = consume;
    this.#fail = fail;
    this.done = this.#run();
  }

  /**
   * To be called when the writer has ended. What is in the pipe is still handed over, however slow the
   * consumer is; but a process that got away and holds the pipe open is waited for no longer than `patienceMs`.
   */
  writerEnded(patienceMs: number): void {
    this.#patienceMs = patienceMs;
    if (this.#waitingSince !== null) this.#wait();
  }

  async #run(): Promise<void> {
    try {
      this.#wait();
      for await (const chunk of this.#source) {
        this.#stopWaiting();
        if (Buffer.isBuffer(chunk)) await this.#handOver(chunk);
        if (this.#bytesAfterEnd > MAX_BYTES_AFTER_END) break;
        this.#wait();
      }
    } catch {
      // A pipe that we gave up, or that broke with its last writer: nothing more comes out of it.
    } finally {
      clearTimeout(this.#timer);
      this.#source.destroy();
    }
  }

  async #handOver(chunk: Buffer): Promise<void> {
    if (this.#patienceMs !== null) this.#bytesAfterEnd += chunk.length;
    if (this.#failed) return;
    try {
      await this.#consume(chunk);
    } catch (error) {
      this.#failed = true;
      this.#fail(error);
    }
  }

  #wait(): void {
    this.#waitingSince = performance.now();
    if (this.#patienceMs !== null) this.#timer = setTimeout(() => this.#source.destroy(), this.#patienceMs);
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    const waited = performance.now() - (this.#waitingSince ?? performance.now());
    if (this.#patienceMs !== null) this.#patienceMs = Math.max(this.#patienceMs - waited, 0);
    this.#waitingSince = null;
  }
}
