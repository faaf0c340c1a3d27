import type { Readable } from 'node:stream';

/** More than a pipe's capacity. Another process wrote further bytes after the writer's end. */
const maxBytesAfterEnd = 8 * 1024 * 1024;

/**
 * Passes the output of a pipe to a consumer, chunk by chunk. It waits for the consumer before each read, so memory
 * stays bounded and the writer blocks.
 */
export class OutputPump {
  /** Resolves when all output has been passed on; never rejects. */
  readonly done: Promise<void>;
  readonly #source: Readable;
  readonly #consume: (chunk: Buffer) => Promise<void> | void;
  readonly #fail: (error: unknown) => void;
  #failed = false;
  /** Time since which no output has arrived while the consumer is free. */
  #waitingSince: number | null = null;
  /** Remaining milliseconds to wait for output; null before the end of the writer. */
  #patienceMs: number | null = null;
  #bytesAfterEnd = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param fail called once when the consumer rejects; the pump then reads and drops the rest of the output */
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
   * Report the end of the writer. The pump still passes on the rest of the pipe, however slow the consumer is. If
   * an escaped process holds the pipe open, the pump waits at most `patienceMs`.
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
      // This object destroyed the pipe, or its last writer broke it: no more output arrives.
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
