import type { Readable } from 'node:stream';

/** More than a pipe holds: bytes beyond it were written after the end of the writer, by another process. */
const maxBytesAfterEnd = 8 * 1024 * 1024;

/**
 * Passes the output of a pipe to a consumer, chunk by chunk. It reads on only when the consumer is done, so that the
 * writer waits and memory stays bounded.
 */
export class OutputPump {
  /** Resolves when all output has been passed on; never rejects. */
  readonly done: Promise<void>;
  readonly #source: Readable;
  readonly #consume: (chunk: Buffer) => Promise<void> | void;
  readonly #fail: (error: unknown) => void;
  #failed = false;
  /** Since when no output has come, while the consumer is free. */
  #waitingSince: number | null = null;
  /** How much longer to wait for output in all; null before the end of the writer. */
  #patienceMs: number | null = null;
  #bytesAfterEnd = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param fail called once when the consumer rejects; the rest of the output is then read and dropped */
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
   * Call this when the writer has ended. The rest of the pipe is still passed on, however slow the consumer is; but for
   * a process that escaped and holds the pipe open, wait no longer than `patienceMs`.
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
        if (this.#bytesAfterEnd > maxBytesAfterEnd) break;
        this.#wait();
      }
    } catch {
      // The pipe was destroyed here, or broke with its last writer: no more output comes.
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
