/** Reads exact numbers of bytes, and lines, from a stream. It holds one chunk beyond what is read, or one line. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #cutShort: () => Error;
  #held: Buffer = Buffer.alloc(0);

  /** @param cutShort makes the error for a stream that ends too early */
  constructor(source: AsyncIterable<Buffer>, cutShort: () => Error) {
    this.#chunks = source[Symbol.asyncIterator]();
    this.#cutShort = cutShort;
  }

  /** Up to `limit` bytes, as many as are held; undefined at the end. */
  async some(limit: number): Promise<Buffer | undefined> {
    if (this.#held.length === 0 && !(await this.#pull())) return undefined;
    const bytes = this.#held.subarray(0, limit);
    this.#held = this.#held.subarray(bytes.length);
    return bytes;
  }

  /** The next `length` bytes, or undefined at the end. @throws the error of a short stream when it ends among them */
  async read(length: number): Promise<Buffer | undefined> {
    if (length === 0) return Buffer.alloc(0);
    const first = await this.some(length);
    if (first === undefined || first.length === length) return first;
    const parts = [first];
    for await (const part of this.stream(length - first.length)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** The next `length` bytes in pieces. @throws the error of a short stream when it ends among them */
  async *stream(length: number): AsyncGenerator<Buffer, void, undefined> {
    for (let missing = length; missing > 0; ) {
      const part = await this.some(missing);
      if (part === undefined) throw this.#cutShort();
      missing -= part.length;
      yield part;
    }
  }

  /**
   * The bytes up to the next CRLF, which is consumed, as latin1; undefined at the end.
   * @throws the error of a short stream for a line that is cut off or longer than `limit`
   */
  async line(limit: number): Promise<string | undefined> {
    let end = this.#held.indexOf('\r\n');
    while (end < 0 && this.#held.length < limit + 2) {
      const before = this.#held;
      if (!(await this.#pull())) {
        if (before.length === 0) return undefined;
        throw this.#cutShort();
      }
      this.#held = Buffer.concat([before, this.#held]);
      end = this.#held.indexOf('\r\n');
    }
    if (end < 0 || end > limit) throw this.#cutShort();
    const text = this.#held.toString('latin1', 0, end);
    this.#held = this.#held.subarray(end + 2);
    return text;
  }

  /** Close the stream, read to its end or not. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #pull(): Promise<boolean> {
    for (;;) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#held = next.value;
      if (this.#held.length > 0) return true;
    }
  }
}
