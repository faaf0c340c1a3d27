import { S3Error } from '../protocol/s3-error.ts';

/** Reads lines and byte runs from a stream of pieces, holding no more than one piece and one line. */
export class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Up to `limit` bytes, as many as there are at once; undefined at the end. */
  async some(limit: number): Promise<Buffer | undefined> {
    if (this.#held.length === 0 && !(await this.#pull())) return undefined;
    const bytes = this.#held.subarray(0, limit);
    this.#held = this.#held.subarray(bytes.length);
    return bytes;
  }

  /**
   * The bytes up to the next CRLF, which is consumed, as latin1; undefined at the end.
   * @throws S3Error IncompleteBody where the line is longer than `limit` or cut off
   */
  async line(limit: number): Promise<string | undefined> {
    let end = this.#held.indexOf('\r\n');
    while (end < 0 && this.#held.length < limit + 2) {
      const before = this.#held;
      if (!(await this.#pull())) {
        if (before.length === 0) return undefined;
        throw incomplete();
      }
      this.#held = Buffer.concat([before, this.#held]);
      end = this.#held.indexOf('\r\n');
    }
    if (end < 0 || end > limit) throw incomplete();
    const text = this.#held.toString('latin1', 0, end);
    this.#held = this.#held.subarray(end + 2);
    return text;
  }

  async #pull(): Promise<boolean> {
    for (;;) {
      const next = await this.#source.next();
      if (next.done === true) return false;
      this.#held = next.value;
      if (this.#held.length > 0) return true;
    }
  }
}

/** The answer to a body that ends early or is not framed as announced. */
export function incomplete(): S3Error {
  return new S3Error(
    'IncompleteBody',
    'The request body terminated unexpectedly or is not framed as its headers say.',
  );
}
